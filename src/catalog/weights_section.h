// SPDX-License-Identifier: Apache-2.0
// The part `weights:` of a catalog entry: what a checkpoint stores, layer by layer, to the byte.
//   weights:
//     layers:
//       - at: [0-3, 6]
//         tensors:
//           - {name: self_attn.q_proj, shape: [4096, 4096], format: q4_k}
//     ends: …  vision: …  tied_head: true  stored_twice: true  remarks: …
#pragma once
#include "catalog/node.h"
#include "model/spec.h"

namespace kvplan {

Node weights_section(const ModelSpec&);
// Replaces the weights of a model that has been read from keys. Throws Error (with line and key).
void use_weights_section(ModelSpec&, const Node& section);

}  // namespace kvplan
