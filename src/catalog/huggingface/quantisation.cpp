// SPDX-License-Identifier: Apache-2.0
// Gives every weight the format that it has in the checkpoint.
#include "catalog/huggingface/draft.h"
#include "catalog/huggingface/scheme.h"

namespace kvplan::huggingface {
namespace {

// What a scheme means by "all linear layers": embeddings, norms, routers and the head stay as they
// are, and so do the few products that every known quantiser leaves alone.
bool is_linear_layer(const Weight& w) {
  constexpr std::string_view kLeftAlone[] = {
      "eh_proj", "self_attn.indexer.weights_proj", "mlp.shared_expert_gate",
      "mlp.routed_expert_down_proj", "mlp.routed_expert_up_proj"};
  for (const std::string_view name : kLeftAlone)
    if (w.name == name) return false;
  return w.is_matrix &&
         (w.role == Role::attention || w.role == Role::state || w.role == Role::mlp ||
          w.role == Role::routed_expert || w.role == Role::shared_expert);
}

bool is_table(const Weight& w) {
  return w.columns > 1 && (w.role == Role::embedding || w.role == Role::head);
}

const Format* format_of(const Scheme& scheme, const Weight& w, const std::string& module) {
  if (!w.is_matrix && !is_table(w)) return nullptr;
  if (scheme.excluded.contain(module)) return nullptr;
  for (const Scheme::Rule& rule : scheme.rules)
    if (rule.modules.contain(module)) return rule.format;
  if (!scheme.rest) return nullptr;
  const bool reached = is_linear_layer(w) || (scheme.tables_too && is_table(w)) ||
                       (scheme.head_too && w.role == Role::head);
  return reached ? scheme.rest : nullptr;
}

void apply(const Draft& d, const Scheme& scheme, Weights& weights, const std::string& prefix) {
  for (Weight& w : weights) {
    const std::string module = canonical_module(prefix + std::string(w.name));
    const Format* format = format_of(scheme, w, module);
    w.format = format ? format : d.model.native;
  }
}

// MTP layers stand behind the main ones, or under a name of their own.
void apply_to_layers(Draft& d, const Scheme& scheme) {
  const bool mtp_is_left_alone = scheme.excluded.contain("mtp.layers.0");
  for (std::size_t i = 0; i < d.model.layers.size(); ++i) {
    Layer& layer = d.model.layers[i];
    const bool alone = layer.role == Layer::mtp && mtp_is_left_alone;
    apply(d, alone ? Scheme{} : scheme, layer.weights, "layers." + std::to_string(i) + ".");
  }
}

// The scheme may stand in the text model, at the top, or in hf_quant_config.json, whose keys are
// nested once more.
std::optional<Scheme> find_scheme(const Draft& d, const Node* beside) {
  // MLX writes `quantization`, and the same again as quantization_config.
  const Node *inner = d.keys.find({"quantization_config"}),
             *outer = d.top.find({"quantization_config"});
  if (const Node* mlx = d.top.find({"quantization"})) return read_mlx_scheme(Keys(*mlx));
  std::optional<Scheme> other;
  if (beside) {
    const Node* nested = beside->find("quantization");
    other = read_scheme(Keys(nested ? *nested : *beside));
  }
  const Node* own = inner ? inner : outer;
  if (!own) return other;
  if (own->kind != Node::map)
    (inner ? d.keys : d.top).refuse({"quantization_config"}, "expected a map of keys");
  Scheme scheme = read_scheme(Keys(*own));
  if (other && !scheme.cache) scheme.cache = other->cache;
  return scheme;
}

const Format* native_format(Draft& d) {
  constexpr std::string_view kType[] = {"torch_dtype", "dtype"};
  const std::string outer = d.top.text(kType), inner = d.keys.text(kType, outer);
  const Format* format = find_format(inner);
  if (!format && !inner.empty())
    d.warn("unknown-dtype", "torch_dtype '" + inner + "' is not known: bf16 is assumed");
  return format ? format : &format_named("bf16");
}

}  // namespace

void read_formats(Draft& d, const Node* beside) {
  d.model.native = native_format(d);
  const auto found = find_scheme(d, beside);
  Scheme scheme = found.value_or(Scheme{});
  if (scheme.rest && d.keys.text({"expert_dtype"}) == "fp4") {  // DeepSeek-V4
    scheme.rules.emplace_back();
    scheme.rules.back().modules.add("mlp.experts");
    scheme.rules.back().format = &format_named("mxfp4");
  }
  d.model.cache_hint = scheme.cache;
  for (const std::string& remark : scheme.remarks) d.warn("quantisation-unclear", remark);
  apply_to_layers(d, scheme);
  apply(d, scheme, d.model.ends, "");
  for (Weight& w : d.model.vision) w.format = d.model.native;
}

}  // namespace kvplan::huggingface
