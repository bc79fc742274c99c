// SPDX-License-Identifier: Apache-2.0
// Granite Speech (IBM 2025): a conformer, and a Q-Former (BLIP-2, Li et al. 2023) that reads its
// output by a few learned queries a window. Source: huggingface/transformers 5.24.
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

// Between two halves of a feed-forward: attention with a table of relative positions, a convolution
// whose batch norm has two learned rows.
std::int64_t conformer_block(const Keys& k, std::int64_t width) {
  const std::int64_t inner = width * k.count_or({"feedforward_mult"}, 4),
                     head = k.count_or({"dim_head"}, 128),
                     attended = k.count_or({"num_heads"}, 8) * head,
                     convolved = width * k.count_or({"conv_expansion_factor"}, 2);
  Count c;
  for (int half = 0; half < 2; ++half) {
    c.linear(width, inner, true);
    c.linear(inner, width, true);
  }
  c.linear(width, 3 * attended, false);
  c.linear(attended, width, true);
  c.vectors(2 * k.count_or({"max_pos_emb"}, 512) + 1, head);
  c.linear(width, 2 * convolved, true);
  c.vectors(k.count_or({"conv_kernel_size"}, 15) + 2, convolved);
  c.linear(convolved, width, true);
  c.vectors(2 * 5, width);
  return c.n;
}

std::int64_t conformer(const Keys& k) {
  const std::int64_t width = k.count_or({"hidden_dim"}, 1024), out = k.count_or({"output_dim"}, 42);
  Count c;
  c.linear(k.count_or({"input_dim"}, 160), width, true);
  c.add(product(conformer_block(k, width), k.count_or({"num_layers"}, 10)));
  c.linear(width, out, true);
  c.linear(out, width, true);
  return c.n;
}

// Every `cross_attention_frequency`-th layer looks at the encoder.
std::int64_t q_former(const Keys& k) {
  const std::int64_t width = k.count_or({"hidden_size"}, 768),
                     inner = k.count_or({"intermediate_size"}, 3072),
                     depth = k.count_or({"num_hidden_layers"}, 12),
                     looking = ceil_div(depth, k.count_or({"cross_attention_frequency"}, 2));
  Count cross;
  cross.linear(width, 2 * width, true);
  cross.linear(k.count_or({"encoder_hidden_size"}, 1408), 2 * width, true);
  cross.vectors(2, width);
  Count c;
  c.add(count_blocks({depth, width, inner}));
  c.add(product(cross.n, looking));
  c.vectors(2, width);
  return c.n;
}

}  // namespace

bool read_granite_speech(Draft& d) {
  if (!d.model.model_type.starts_with("granite_speech")) return false;
  const auto encoder = d.top.if_inside({"encoder_config"}),
             former = d.top.if_inside({"projector_config"});
  if (!encoder || !former) return false;
  const std::int64_t window = d.top.count_or({"window_size"}, 15),
                     rate = d.top.count_or({"downsample_rate"}, 5),
                     width = former->count_or({"hidden_size"}, 768);
  Count c;
  c.add(conformer(*encoder));
  c.add(q_former(*former));
  c.vectors(window / rate, width);
  c.linear(width, d.hidden, true);
  add_tower(d, "encoder", c.n, false);
  d.top.pass_over({"has_lora_adapter"});
  return true;
}

}  // namespace kvplan::huggingface
