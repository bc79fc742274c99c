// SPDX-License-Identifier: Apache-2.0
// The metadata of a GGUF file as values per block, and their translation to Hugging Face keys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/gguf/architecture.h"
#include "catalog/gguf/file.h"
#include "model/spec.h"

namespace kvplan::gguf {

struct Metadata {
  std::string architecture;
  const Architecture* known = nullptr;  // nullptr: nothing is known beyond the keys
  std::string_view reads_as = "llama";
  Architecture::State state_kind = Architecture::none;

  std::int64_t blocks = 0;  // main layers and prediction layers after them
  std::int64_t drafts = 0;
  std::int64_t encoders = 0;  // layers of an encoder beside them (T5)
  std::int64_t hidden = 0, vocabulary = 0;
  std::int64_t experts = 0, experts_per_token = 0;
  // Whole numbers that only change their name.
  std::vector<std::pair<std::string_view, std::int64_t>> renamed;

  // One a block; 0 KV heads: a block without attention.
  std::vector<std::int64_t> heads, kv_heads, inner, compress_ratios;
  // Of keys and values of one head, and in sliding layers.
  std::int64_t k_width = 0, v_width = 0, k_width_sliding = 0, v_width_sliding = 0;
  std::vector<bool> slides;  // one a block; empty: none does
  std::int64_t window = 0;
  std::vector<bool> recurrent;  // one a block
  std::vector<bool> indexers;   // blocks that own an indexer's keys

  struct LatentKeys {
    std::int64_t rope = 0, nope = 0, v_width = 0;
  };
  std::optional<LatentKeys> latent;
  struct StateKeys {
    std::int64_t inner = 0, heads = 0, size = 0, groups = 0, taps = 0;
  };
  StateKeys state;
  std::int64_t kda_width = 0;

  std::int64_t mains() const { return blocks - drafts; }
};

// Throws Error naming the key where one is missing, absurd, or not understood. What is not
// understood and bears neither on memory nor on speed becomes a warning.
Metadata read_metadata(const GgufFile&, std::vector<Warning>&);
// The keys that read_metadata looks at, and those that it takes from the tensors.
Node keys_that_count(const GgufFile&);
// The keys that read_huggingface needs to build the mixers.
Node translate(const Metadata&);
// What no Hugging Face key can say: heads and widths that differ from block to block.
void apply_block_values(const Metadata&, ModelSpec&);

}  // namespace kvplan::gguf
