// SPDX-License-Identifier: Apache-2.0
// One layer of an ordinary decoder: a mixer, a feed-forward, their norms.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

void decoder_layer(Draft& d, std::int64_t i, Layer& layer) {
  if (is_linear_layer(d, i))
    add_gated_delta_net(d, layer);
  else
    add_attention(d, i, layer);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

}  // namespace kvplan::huggingface
