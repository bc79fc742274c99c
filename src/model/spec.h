// SPDX-License-Identifier: Apache-2.0
// What a model is, for memory and speed: layers that look at the past in some way (Mixer) and own
// weights. Widths are in elements, counts are per layer. Every reader produces this, everything
// else consumes it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "error.h"
#include "model/average.h"
#include "model/format.h"
#include "units.h"

namespace kvplan {

// ---- weights
// ---------------------------------------------------------------------------------------------------

enum class Role {
  embedding,      // token and position tables: one row per token is read
  attention,      // projections of a mixer that keeps keys and values (MLA and indexer included)
  state,          // projections and parameters of a recurrent mixer
  mlp,            // dense feed-forward
  router,         // gates of experts, their biases
  routed_expert,  // `copies` experts of which `active` are read per token
  shared_expert,  // always read
  norm,
  head,    // output projection over the vocabulary
  vision,  // encoders of other modalities and their projectors: resident, not read by a decode step
};

std::string_view name_of(Role);                        // "routed_expert"
std::optional<Role> find_role(std::string_view name);  // empty when unknown

// How tensor parallelism divides a weight.
enum class Sharding {
  replicated,  // every rank holds all of it (norms, routers, MLA's down projections)
  split,       // divided evenly by rank
  kv_heads,    // divided by KV heads down to one per rank, replicated beyond that
};

// One weight tensor, or `copies` equal ones. Vectors have columns = 1 and is_matrix = false.
struct Weight {
  std::string_view name;  // module path in a Hugging Face file, inside its layer:
                          // "self_attn.q_proj", "mlp.experts.*.up_proj"
  Role role = Role::mlp;
  std::int64_t rows = 0;     // outputs (matrix) or elements (vector)
  std::int64_t columns = 1;  // inputs
  Sharding sharding = Sharding::replicated;
  std::int64_t copies = 1;  // experts
  std::int64_t active = 1;  // of these, read per token
  bool is_matrix = true;    // multiplied with activations; false: biases, norms, tables, filters
  const Format* format = nullptr;  // filled by apply_recipe; never null afterwards
  // Scales that no format accounts for, tables of indices and angles: bytes, not parameters.
  bool is_auxiliary = false;

  std::int64_t elements() const { return checked_mul(checked_mul(rows, columns), copies); }
};

// ---- mixers: how a layer looks at the past
// -----------------------------------------------------------------------

struct Attention {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t k_width = 0, v_width = 0;  // per head
  bool v_is_k = false;                    // one stored row serves as key and value (DeepSeek-V4)
  std::int64_t rope_width = 0;  // part of a v_is_k row that packed formats keep in 16 bits
};
struct Latent {  // MLA: one latent and one rotary row per token, shared by all heads
  std::int64_t heads = 0, latent = 0, rope = 0, nope = 0, v_width = 0;
};
struct Recurrent {
  // compressor: the fp32 ring of raw tokens that DeepSeek-V4 keeps before it writes an entry;
  // k_width tokens of v_width numbers, not divided over GPUs.
  // rwkv: the past of `taps` - 1 token shifts stands for the convolution's rows.
  // lightning (MiniMax-01) and rg_lru (Griffin) are recurrences without another name.
  enum Kind {
    mamba1,
    mamba2,
    gated_delta_net,
    kda,
    short_conv,
    compressor,
    rwkv,
    lightning,
    rg_lru
  } kind = mamba2;
  // mamba2: v_heads = SSM heads, k_heads = groups; mamba1: v_heads = inner channels of width 1.
  std::int64_t k_heads = 0, v_heads = 0;
  std::int64_t k_width = 0,
               v_width = 0;  // state per v_head is k_width x v_width (mamba: k_width = state size)
  std::int64_t taps = 0;     // convolution kernel size; taps - 1 columns are kept
  std::int64_t conv_channels = 0;  // channels that pass the convolution
  // Of the recurrent state, where the configuration says; the convolution's rows are 16-bit.
  const Format* state_format = nullptr;
};

struct All {};
struct Window {
  Tokens size;
};
struct Chunk {
  Tokens size;
};
struct Compressed {
  std::int64_t ratio = 1;
};                 // one entry per `ratio` tokens
struct Source {};  // encoder or image tokens, fixed per request
using Reach = std::variant<All, Window, Chunk, Compressed, Source>;

// An indexer that picks what a sparse attention reads. Keys are stored per token (or per `ratio`
// tokens).
struct Sparse {
  std::int64_t heads = 0, width = 0;  // query heads of the indexer; width of its key
  std::int64_t key_heads = 1;
  std::int64_t top_entries = 0;  // entries of the main cache that are read; 0 = all
  std::int64_t ratio = 1;        // tokens per index key
  bool owns_keys = true;         // false: uses another layer's choice, stores nothing
};

struct Mixer {
  std::variant<std::monostate, Attention, Latent, Recurrent> kind;
  std::vector<Reach> reach;  // one cache per entry; empty for recurrent mixers and none
  std::optional<Sparse> sparse;
  std::optional<int> shares_cache_of;  // index of the layer whose cache it reads; it stores nothing
  std::optional<Recurrent>
      beside;  // a recurrent mixer in parallel in the same layer (Falcon-H1, V4's compressor state)
  bool causal = true;  // false: an encoder layer; it has no cache
};

struct Layer {
  enum Role { main, mtp, encoder } role = main;
  Mixer mixer;
  std::vector<Weight> weights;
};

struct ModelSpec {
  std::string name;        // as the user will see it
  std::string source;      // file, or catalog entry with its public origin
  std::string model_type;  // Hugging Face's, or GGUF's architecture
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::optional<Tokens> max_context;  // trained or configured length
  std::vector<Layer> layers;
  std::vector<Weight> ends;    // embeddings, final norm, head
  std::vector<Weight> vision;  // towers and projectors
  bool vision_apart = false;   // the publisher counts them apart from the model
  bool tied_head = false;      // the head is the embedding table: resident once, read by every step
  bool head_once_more = false;  // a tied file that stores the head too (extra bytes on disk)
  const Format* native =
      nullptr;  // format of the checkpoint's unquantised tensors (bf16 where unknown)
  const Format* cache_hint = nullptr;  // KV format that the checkpoint asks for (kv_cache_scheme)
  std::string recipe = "config";       // how weight formats were chosen
  std::shared_ptr<const OwnFormat>
      average;  // of a recipe by its average width; weights point there
  std::vector<Warning> warnings;
};

// Layers of the main model, in order (MTP and encoder layers left out).
std::vector<const Layer*> main_layers(const ModelSpec&);
std::vector<const Layer*> main_layers(ModelSpec&&) = delete;  // they point into it

// Whether it writes text token by token; an encoder reads one at once.
bool generates(const ModelSpec&);

bool has_experts(const Layer&);  // routed ones
bool has_experts(const ModelSpec&);

}  // namespace kvplan
