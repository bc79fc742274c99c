// SPDX-License-Identifier: Apache-2.0
#include "model/variants.h"

#include <algorithm>

namespace kvplan {
namespace {

constexpr Tokens kUsualWindow{4096};

// Heads and widths of a layer's attention, MLA seen as the heads that it stands for.
std::optional<Attention> heads_of(const Mixer& mixer) {
  if (const auto* a = std::get_if<Attention>(&mixer.kind)) return *a;
  if (const auto* l = std::get_if<Latent>(&mixer.kind))
    return Attention{l->heads, l->heads, l->nope + l->rope, l->v_width};
  return std::nullopt;
}

bool is_kv_weight(const Weight& w) {
  return w.name.starts_with("self_attn.k_proj") || w.name.starts_with("self_attn.v_proj") ||
         w.name.starts_with("self_attn.kv_a") || w.name.starts_with("self_attn.kv_b");
}

Weight projection(const ModelSpec& model, std::string_view name, std::int64_t rows,
                  std::int64_t columns, Sharding sharding) {
  Weight w;
  w.name = name;
  w.role = Role::attention;
  w.rows = rows;
  w.columns = columns;
  w.sharding = sharding;
  w.format = model.native ? model.native : &format_named("bf16");
  return w;
}

// Takes out what makes keys and values and returns the format that it had.
const Format* drop_kv_weights(Layer& layer) {
  const Format* format = nullptr;
  for (const Weight& w : layer.weights)
    if (is_kv_weight(w) && w.is_matrix && w.format) format = w.format;
  std::erase_if(layer.weights, is_kv_weight);
  return format;
}

void put_heads(const ModelSpec& model, Layer& layer, Attention a) {
  const Format* format = drop_kv_weights(layer);
  a.v_is_k = false;
  layer.mixer.kind = a;
  Weight k = projection(model, "self_attn.k_proj", checked_mul(a.kv_heads, a.k_width), model.hidden,
                        Sharding::kv_heads);
  Weight v = projection(model, "self_attn.v_proj", checked_mul(a.kv_heads, a.v_width), model.hidden,
                        Sharding::kv_heads);
  if (format) k.format = v.format = format;
  layer.weights.push_back(k);
  layer.weights.push_back(v);
}

void put_latent(const ModelSpec& model, Layer& layer, const Attention& a, LatentWidths widths) {
  const Format* format = drop_kv_weights(layer);
  layer.mixer.kind = Latent{a.heads, widths.latent, widths.rope, a.k_width, a.v_width};
  Weight down = projection(model, "self_attn.kv_a_proj_with_mqa", widths.latent + widths.rope,
                           model.hidden, Sharding::replicated);
  Weight up = projection(model, "self_attn.kv_b_proj", checked_mul(a.heads, a.k_width + a.v_width),
                         widths.latent, Sharding::split);
  if (format) down.format = up.format = format;
  layer.weights.push_back(down);
  layer.weights.push_back(up);
}

// First layer that attends over tokens; its shape names the variants.
const Layer& sample_layer(const ModelSpec& model) {
  for (const Layer& layer : model.layers)
    if (layer.role == Layer::main && layer.mixer.causal && heads_of(layer.mixer) &&
        !layer.mixer.shares_cache_of)
      return layer;
  throw Error("the model has no attention whose keys and values could be shared")
      .advise("`kv-plan kv` shows what it keeps.");
}

template <class Change>
ModelSpec changed(ModelSpec model, Change change) {
  for (Layer& layer : model.layers)
    if (layer.mixer.causal && layer.role != Layer::encoder)
      if (const auto heads = heads_of(layer.mixer)) change(layer, *heads);
  return model;
}

void measure(Variant& v) {
  const Layer& layer = sample_layer(v.model);
  if (const auto* a = std::get_if<Attention>(&layer.mixer.kind))
    v.elements_per_token_per_layer =
        checked_mul(a->kv_heads, a->k_width + (a->v_is_k ? 0 : a->v_width));
  else if (const auto* l = std::get_if<Latent>(&layer.mixer.kind))
    v.elements_per_token_per_layer = l->latent + l->rope;
  for (const Weight& w : layer.weights)
    if (is_kv_weight(w) && w.is_matrix) v.kv_projection_parameters_per_layer += w.elements();
}

Variant with_kv_heads(const ModelSpec& model, std::int64_t heads, std::int64_t kv_heads,
                      bool original) {
  Variant v;
  v.kind = kv_heads == heads ? Variant::mha : kv_heads == 1 ? Variant::mqa : Variant::gqa;
  v.name = v.kind == Variant::mha   ? "MHA"
           : v.kind == Variant::mqa ? "MQA"
                                    : "GQA-" + std::to_string(kv_heads);
  v.kv_heads = kv_heads;
  v.original = original;
  // Every layer keeps its own number of query heads; the share of KV heads is that of the sample.
  v.model = original ? model : changed(model, [&](Layer& layer, Attention a) {
    a.kv_heads = std::max<std::int64_t>(1, a.heads * kv_heads / heads);
    put_heads(model, layer, a);
  });
  measure(v);
  return v;
}

}  // namespace

LatentWidths usual_latent(const ModelSpec& model) {
  const Mixer& mixer = sample_layer(model).mixer;
  if (const auto* l = std::get_if<Latent>(&mixer.kind)) return {l->latent, l->rope};
  const std::int64_t width = heads_of(mixer)->k_width;
  return {4 * width, width / 2};
}

std::vector<Variant> attention_variants(const ModelSpec& model, std::optional<LatentWidths> asked) {
  const Mixer& mixer = sample_layer(model).mixer;
  const Attention base = *heads_of(mixer);
  const bool is_latent = std::holds_alternative<Latent>(mixer.kind);
  std::vector<Variant> variants;
  for (std::int64_t kv = base.heads; kv >= 1; --kv)
    if (base.heads % kv == 0)
      variants.push_back(with_kv_heads(model, base.heads, kv, !is_latent && kv == base.kv_heads));

  const LatentWidths widths = asked.value_or(usual_latent(model));
  Variant latent;
  latent.kind = Variant::mla;
  latent.name = "MLA " + std::to_string(widths.latent) + "+" + std::to_string(widths.rope);
  latent.original = is_latent && !asked;
  latent.model = latent.original ? model : changed(model, [&](Layer& l, const Attention& a) {
    put_latent(model, l, a, widths);
  });
  measure(latent);
  variants.push_back(std::move(latent));

  if (!is_latent) {
    Variant window;
    window.kind = Variant::window;
    window.name = "window " + std::to_string(kUsualWindow.n);
    window.kv_heads = base.kv_heads;
    window.model = changed(model, [&](Layer& l, const Attention&) {
      for (Reach& reach : l.mixer.reach)
        if (std::holds_alternative<All>(reach)) reach = Window{kUsualWindow};
    });
    measure(window);
    variants.push_back(std::move(window));
  }
  return variants;
}

}  // namespace kvplan
