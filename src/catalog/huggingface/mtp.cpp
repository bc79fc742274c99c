// SPDX-License-Identifier: Apache-2.0
// Multi-token prediction: extra layers that a checkpoint brings and a speculating engine uses
// (DeepSeek-V3 report, section 2.2).
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

constexpr std::int64_t kMostModules = 64;

std::int64_t module_count(const Draft& d) {
  const auto said =
      d.keys.integer({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0, kMostModules);
  return said.value_or(d.family.mtp_layers);
}

}  // namespace

void read_mtp(Draft& d) {
  const std::int64_t modules = module_count(d);
  for (std::int64_t n = 0; n < modules; ++n) {
    Layer layer;
    layer.role = Layer::mtp;
    // Shaped like the last layer of the main model, with full attention.
    (d.family.mtp_layer ? d.family.mtp_layer
     : d.family.layer   ? d.family.layer
                        : decoder_layer)(d, d.layers - 1, layer);
    // Joins the hidden row with the next token's embedding: a projection and three norms.
    add_matrix(layer.weights, "eh_proj", Role::mlp, d.hidden, 2 * d.hidden, Sharding::replicated);
    for (const std::string_view name : {"enorm", "hnorm", "shared_head.norm"})
      add_norm(d, layer.weights, name, d.hidden);
    d.model.layers.push_back(std::move(layer));
  }
}

}  // namespace kvplan::huggingface
