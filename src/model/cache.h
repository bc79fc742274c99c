// SPDX-License-Identifier: Apache-2.0
// What a model keeps between steps. Equal caches of several layers form one group, which keeps its
// geometry, because engines reserve by heads and widths, not by bytes. Everything here is ideal:
// the bytes that the mathematics needs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/spec.h"

namespace kvplan {

// Formats of a cache by what is stored. `fp8_ds_mla` and friends are a set of these, not one
// number.
struct CacheFormats {
  std::string name;                // as asked for: "bf16", "fp8", "q8_0,q4_0", "fp8_ds_mla"
  const Format* key = nullptr;     // attention keys
  const Format* value = nullptr;   // attention values
  const Format* latent = nullptr;  // MLA latent
  const Format* shared = nullptr;  // non-rotary part of a v_is_k row (DeepSeek-V4)
  const Format* rope = nullptr;    // MLA rotary part; the rotary part of a v_is_k row
  const Format* index = nullptr;   // indexer keys
  const Format* conv = nullptr;    // convolution tail of recurrent mixers
};
// "bf16", "fp8", "q8_0,q4_0" (keys, values), "fp8_ds_mla", "nvfp4", …; throws Error on an unknown
// name and on a format that only weights can have.
CacheFormats cache_formats(std::string_view key_and_value);

// A stored row: `heads` x `width` numbers per entry.
struct Part {
  enum Role { key, value, latent, rope, index } role = key;
  std::int64_t heads = 1, width = 0;
  const Format* format = nullptr;
  bool replicated = false;  // not divided by tensor parallelism (MLA latents, index keys)
};

struct State {  // fixed per sequence
  Recurrent mixer;
  const Format* conv_format = nullptr;  // of the convolution's rows and of a compressor's ring
};

using Law = std::variant<All, Window, Chunk, Compressed, Source, State>;

struct CacheGroup {
  enum Kind { full, window, chunk, latent, index, compressed, state, cross } kind = full;
  Law law;
  std::vector<Part> entry;   // empty for State
  std::vector<int> layers;   // that own a cache of this group (indices into ModelSpec::layers)
  std::vector<int> readers;  // owners and sharers
  std::optional<std::int64_t> read_limit;  // entries read per step at most (top-k of an indexer)
  std::int64_t entry_multiple =
      1;  // an entry is padded to a multiple of this many bytes (DeepSeek-V4: 8)
};

// Groups of the main layers (and of MTP layers where asked), in the order of their first layer.
std::vector<CacheGroup> cache_groups(const ModelSpec&, const CacheFormats&, bool with_mtp = false);

// How a cache is divided over GPUs.
struct CacheSharding {
  std::int64_t tp = 1;   // KV heads divide by it down to one per rank, then replicate; state heads
                         // divide
  std::int64_t dcp = 1;  // tokens divide by it
};

// Bytes of one entry of one layer on one rank. Heads that tp neither divides nor is divided by are
// an Error.
Bytes entry_bytes(const CacheGroup&, const CacheSharding& = {});
// Bytes of one layer's fixed state on one rank; 0 for groups that are not State.
Bytes state_bytes(const CacheGroup&, const CacheSharding& = {});
// Entries that one layer keeps for a sequence of `context` tokens, the newest one included
// (`source` encoder or image tokens for Source). A window keeps the last `size`; a chunk keeps the
// tokens since the last multiple of its size, so at its start one token; a compressed cache keeps
// whole entries only.
std::int64_t stored_entries(const CacheGroup&, Tokens context, Tokens source = Tokens(0));
// Entries that one reader reads in the step of the newest of `context` tokens.
std::int64_t read_entries(const CacheGroup&, Tokens context, Tokens source = Tokens(0));
// Of those, the most that can lie within the first `prefix` tokens.
std::int64_t entries_in_prefix(const CacheGroup&, Tokens context, Tokens prefix);
// The heads and channels of one rank.
Recurrent on_rank(const State&, const CacheSharding&);
// Bytes of one layer's state that a step must read and write, one rank; 0 for groups that are not
// State.
Bytes state_traffic(const CacheGroup&, const CacheSharding& = {});
// All owner layers of the group, one sequence, one rank.
Bytes stored_bytes(const CacheGroup&, Tokens context, Tokens source = Tokens(0),
                   const CacheSharding& = {});
// Bytes that one more token adds while nothing is capped, all owner layers, whole model; fractional
// for Compressed.
double bytes_per_token(const CacheGroup&);
// Growth at long context: as above, with windows, chunks, states and sources counted as zero.
double growth_per_token(const std::vector<CacheGroup>&, const CacheSharding& = {});

}  // namespace kvplan
