// SPDX-License-Identifier: Apache-2.0
// From a tensor's name to its part in the model. The patterns are data: Hugging Face's module paths
// and GGUF's names (gguf-py's tensor_mapping.py lists both).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/spec.h"

namespace kvplan {

struct TensorRole {
  std::string_view pattern;  // '*' stands for any run of characters, dots included
  std::string_view module;   // the name that read_huggingface gives this weight
  Role role;
  Sharding sharding = Sharding::split;
  bool is_matrix = true;
  bool is_auxiliary = false;  // tables of indices and angles: bytes, not parameters
};

struct TensorPlace {
  enum Section { main, mtp, vision } section = main;
  std::optional<std::int64_t> layer;   // as the name counts
  std::optional<std::int64_t> expert;  // where every expert is a tensor of its own
  const TensorRole* role = nullptr;    // nullptr: the name is not known
  // The name speaks of an encoder's stack, whose layers are counted apart (T5, Whisper).
  bool of_encoder = false;
};

// The first role that gives its tensors this module's name, those without a pattern included.
const TensorRole* find_module(std::string_view module);

// Roles of what no pattern fits: towers of other modalities, and names that are not known.
extern const TensorRole kTowerRole, kUnknownRole;

// Splits names and looks them up. Distinct modules are few and tensors many: a look-up is
// remembered. "blk.3.ffn_up_exps", "model.layers.3.mlp.experts.17.up_proj", "mtp.fc",
// "visual.patch_embed.proj".
class TensorPlaces {
 public:
  // `module` is a tensor's name without ".weight" or another suffix of storage.
  TensorPlace of(std::string_view module);

 private:
  std::unordered_map<std::string, const TensorRole*> known_;
};

}  // namespace kvplan
