// SPDX-License-Identifier: Apache-2.0
// What a checkpoint holds, tensor by tensor, read from its headers alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/tensor_roles.h"
#include "error.h"
#include "model/format.h"
#include "model/spec.h"
#include "units.h"

namespace kvplan {

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;   // outermost first, as unpacked numbers
  const Format* format = nullptr;    // of a matrix with the scales that stand beside it
  std::int64_t stored_elements = 0;  // what the file counts: packed words, scales
  std::int64_t parameters = 0;       // weights that it holds; 0 for scales and other aids
  Bytes bytes;                       // of this tensor alone
  TensorPlace place;
  bool in_format = false;  // a scale or zero point that its matrix' format accounts for
};

struct TensorTable {
  std::string source;  // the file that was named
  std::vector<Tensor> tensors;
  std::vector<Warning> warnings;
  bool complete = true;  // false: files that the index names are missing
  // Layers beyond these predict further tokens; empty where nothing says how many there are.
  std::optional<std::int64_t> main_layers;

  Bytes bytes() const;
  std::int64_t parameters() const;
};

// One line of `kv-plan import --tensors`: all tensors of one role in one format.
struct TensorGroup {
  TensorPlace::Section section = TensorPlace::main;
  std::optional<Role> role;  // empty: names that kv-plan does not know
  const Format* format = nullptr;
  std::int64_t tensors = 0, parameters = 0, stored_elements = 0;
  Bytes bytes;
};
// The main model first. In the order of Role, unknown ones last; within a role the most bytes
// first.
std::vector<TensorGroup> group_tensors(const TensorTable&);

// A model's weights, layer by layer. Layers beyond the model's own become MTP layers; MTP layers
// for which there are none are dropped: how many.
struct StoredWeights {
  std::vector<std::vector<Weight>> layers;
  std::vector<Weight> ends, vision;
};
std::size_t replace_weights(ModelSpec&, StoredWeights);

// Replaces the model's weights by what the file holds, to the byte. Layers beyond the model's own
// become MTP layers. Scales that no format accounts for become weights of their own, marked
// auxiliary; tensors of unknown names count as read. An incomplete table changes nothing. How many
// experts a token reads is the model's own word where `routing` does not say it.
struct Routing {
  std::int64_t active = 0, experts = 0;
};
void use_tensors(ModelSpec&, const TensorTable&, Routing routing = {});

}  // namespace kvplan
