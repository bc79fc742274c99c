// SPDX-License-Identifier: Apache-2.0
// Inkling: sliding and global layers with heads of their own number, positions by learned relative
// scores, and short convolutions over keys, values and what either half of a layer puts out.
// Source: huggingface/transformers 5.24.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

// Every sixth layer looks at everything where no list says otherwise.
bool slides(const Draft& d, std::int64_t i) {
  if (const auto type = d.keys.entry_text({"layer_types"}, i)) {
    if (*type != "hybrid" && *type != "hybrid_sliding")
      d.keys.refuse({"layer_types"}, "kv-plan does not know '" + *type + "'");
    return *type == "hybrid_sliding";
  }
  return d.keys.has({"local_layer_ids"}) ? d.keys.lists({"local_layer_ids"}, i) : (i + 1) % 6 != 0;
}

bool is_dense(const Draft& d, std::int64_t i) {
  const auto type = d.keys.entry_text({"mlp_layer_types"}, i);
  return type ? *type == "dense" : i < d.keys.integer({"dense_mlp_idx"}).value_or(0);
}

// The router weighs the shared experts too.
void add_inkling_experts(Draft& d, Layer& layer) {
  const std::int64_t shared = d.keys.count_or({"n_shared_experts"}, 2);
  add_experts(d, layer, *d.experts);
  add_matrix(layer.weights, "mlp.gate.shared", Role::router, shared, d.hidden,
             Sharding::replicated);
}

void add_attention_of(Draft& d, Layer& layer, const Attention& a, bool sliding) {
  const std::int64_t window = d.keys.count({"sliding_window_size", "sliding_window"}),
                     extent = sliding ? window : d.keys.count_or({"rel_extent"}, 1024),
                     width = d.keys.count_or({"d_rel"}, 16);
  add_heads(d, layer, a, sliding ? Reach(Window{Tokens(window)}) : Reach(All{}));
  add_matrix(layer.weights, "self_attn.r_proj", Role::attention, a.heads * width, d.hidden);
  add_vector(layer.weights, "self_attn.rel_logits_proj", Role::attention, product(width, extent));
}

}  // namespace

// Checkpoints call the dense layers' width `dense_intermediate_size` and the experts' the plain
// one.
void inkling_widths(Draft& d) {
  d.keys.pass_over({"chain_hidden_post_norm", "mtp_hidden_states_first", "mtp_local_layer_ids",
                    "num_mtp_layers", "number_of_conv_states", "log_scaling_alpha",
                    "log_scaling_n_floor", "logits_mup_width_multiplier", "shared_expert_sink",
                    "rms_norm_eps_moe_gate", "route_scale"});
  if (const auto rows = d.keys.integer({"unpadded_vocab_size"}, 1); rows && *rows != d.vocabulary)
    d.keys.refuse({"unpadded_vocab_size"}, "kv-plan knows a head as high as the table only");
}

void inkling_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  const bool sliding = slides(d, i);
  Attention a = attention_shape(d);
  const Attention swa = {k.count_or({"swa_num_attention_heads"}, a.heads),
                         k.count_or({"swa_num_key_value_heads"}, a.kv_heads),
                         k.count_or({"swa_head_dim"}, a.k_width),
                         k.count_or({"swa_head_dim"}, a.v_width)};
  if (sliding) a = swa;
  if (a.heads % a.kv_heads != 0)
    k.refuse({"swa_num_key_value_heads"}, "does not divide the attention heads");
  add_attention_of(d, layer, a, sliding);
  Recurrent r;
  r.kind = Recurrent::short_conv;
  r.v_heads = r.k_heads = 1;
  r.taps = k.count_or({"conv_kernel_size", "sconv_kernel_size"}, 4);
  r.conv_channels = a.kv_heads * (a.k_width + a.v_width) + 2 * d.hidden;
  layer.mixer.beside = r;
  add_vector(layer.weights, "sconv.conv1d", Role::state, product(r.conv_channels, r.taps));
  if (d.experts && !is_dense(d, i))
    add_inkling_experts(d, layer);
  else
    add_mlp(d, i, layer);
  add_vector(layer.weights, "mlp.global_scale", Role::mlp, 1);
  add_layer_norms(d, layer);
}

}  // namespace kvplan::huggingface
