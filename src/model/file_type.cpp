// SPDX-License-Identifier: Apache-2.0
#include "model/file_type.h"

#include <algorithm>
#include <iterator>

#include "model/file_type_rules.h"
#include "word_list.h"

namespace kvplan {
namespace {

// Families whose GGUF files keep one product for queries, keys and values.
constexpr std::string_view kFused =
    " falcon RefinedWeb RefinedWebModel gpt2 gpt_neox phi phi3 chatglm bloom mpt dbrx gpt_bigcode "
    "qwen ";

// What the quantiser knows of the model.
struct Facts {
  std::int64_t experts = 0, queries_per_kv = 1;
  bool falcon = false, fused = false;
  bool seventy = false;  // its LLM_TYPE_70B: 80 layers with grouped heads
};

bool starts_without_heads(const std::vector<const Layer*>& layers) {
  const auto* r = layers.empty() ? nullptr : std::get_if<Recurrent>(&layers[0]->mixer.kind);
  return r && r->kind != Recurrent::gated_delta_net;
}

Facts facts_of(const ModelSpec& model) {
  Facts f;
  const auto layers = main_layers(model);
  const Attention* attention = nullptr;
  for (const Layer* layer : layers) {
    if (const auto* a = std::get_if<Attention>(&layer->mixer.kind); a && !attention) attention = a;
    for (const Weight& w : layer->weights)
      if (w.role == Role::routed_expert) f.experts = std::max(f.experts, w.copies);
  }
  // It takes the first layer's; files that give KV heads layer by layer have 0 for a recurrent one.
  if (attention && attention->kv_heads > 0 && !starts_without_heads(layers))
    f.queries_per_kv = attention->heads / attention->kv_heads;
  f.falcon = model.model_type == "falcon" || model.model_type.starts_with("RefinedWeb");
  f.fused = has_word(kFused, model.model_type);
  f.seventy = layers.size() == 80 && f.queries_per_kv > 1 &&
              has_word("llama mllama qwen2 nemotron-nas", model.model_type);
  return f;
}

struct Place {  // of a layer among n
  std::int64_t i = 0, n = 1;
};

bool gets_more_bits(Place p) {
  return p.i < p.n / 8 || p.i >= 7 * p.n / 8 || (p.i - p.n / 8) % 3 == 2;
}

bool applies(When when, const Facts& f, Place p) {
  switch (when) {
    case When::always:
      return true;
    case When::grouped:
      return f.queries_per_kv >= 4;
    case When::grouped_or_experts:
      return f.queries_per_kv >= 4 || f.experts >= 4;
    case When::eight_experts:
      return f.experts == 8;
    case When::falcon:
      return f.falcon;
    case When::first_two:
      return p.i < 2;
    case When::first_four:
      return p.i < 4;
    case When::first_eighth:
      return p.i < p.n / 8;
    case When::first_sixteenth:
      return p.i < p.n / 16;
    case When::more_bits:
      return gets_more_bits(p);
    case When::falcon_more:
      return f.falcon && gets_more_bits(p);
    case When::falcon_first:
      return f.falcon && p.i < p.n / 16;
    case When::eight_and_more:
      return f.experts == 8 && gets_more_bits(p);
    case When::between_eighths:
      return p.i >= p.n / 8 && p.i < 7 * p.n / 8;
  }
  return false;
}

std::string_view rules_of(const FileType& type) {
  return type.rules.empty() ? type.name : type.rules;
}

std::string_view format_name(const FileType& type, Tensor tensor, const Facts& f, Place p) {
  if (!type.ends.empty() && (tensor == Tensor::head || tensor == Tensor::table)) return type.ends;
  std::string_view name = type.base;
  for (const Rule& rule : file_type_rules()) {
    const bool of_type = rule.types == "*" || has_word(rule.types, rules_of(type));
    if (rule.tensor != tensor || !of_type || !applies(rule.when, f, p)) continue;
    if (!rule.format.empty()) name = rule.format;
    break;
  }
  const bool spared = tensor == Tensor::value && f.seventy && !has_word(kTiny, rules_of(type));
  return spared && (name == "q3_k" || name == "q4_k") ? "q5_k" : name;
}

const Format& fitting(std::string_view name, std::int64_t columns) {
  const auto fits = [&](std::string_view format) {
    return columns % format_named(format).block_elements == 0;
  };
  if (fits(name)) return format_named(name);
  for (const auto& [from, to] : file_type_fallbacks())
    if (from == name && fits(to)) return format_named(to);
  return format_named("fp16");
}

// One product for the queries, keys and values of a gated delta net: attn_qkv in a GGUF file, which
// the quantiser treats like values since ggml-org/llama.cpp#19770 (March 2026).
bool is_delta_qkv(const Weight& w) {
  return w.name.ends_with("in_proj_qkv") || (w.role == Role::state && w.name.ends_with("qkv_proj"));
}

// Latents' up-projections are cut by heads: to the quantiser they look like experts.
bool is_cut_by_heads(const Weight& w) {
  return w.name.ends_with("k_b_proj") || w.name.ends_with("v_b_proj");
}

Tensor tensor_of(const Weight& w, const Facts& f, const FileType& type) {
  if (type.name == "mxfp4_moe" && (w.role == Role::routed_expert || is_cut_by_heads(w)))
    return Tensor::expert;
  const auto ends = [&](std::string_view end) { return w.name.ends_with(end); };
  const bool projects = ends(".q_proj") || ends(".k_proj") || ends(".v_proj");
  if (ends(".v_proj") && !f.fused) return Tensor::value;
  if (is_delta_qkv(w)) return Tensor::value;
  if (ends("qkv_proj") || (projects && f.fused)) return Tensor::fused;
  if (ends(".k_proj")) return Tensor::key;
  if (ends(".q_proj")) return Tensor::query;
  if (ends(".o_proj")) return Tensor::output;
  if (ends("down_proj")) return Tensor::down;
  if (ends("gate_proj") || ends("up_proj")) return Tensor::inner;
  return Tensor::other;
}

bool holds_values(const Layer& layer) {
  return std::any_of(layer.weights.begin(), layer.weights.end(), [](const Weight& w) {
    return w.is_matrix &&
           (w.name.ends_with(".v_proj") || w.name.ends_with("qkv_proj") || is_delta_qkv(w));
  });
}

// Latent attention whose files keep the latent's up-projection whole.
constexpr std::string_view kWholeLatents = "minicpm3 plm";

// The others' are cut in two by llama.cpp's converter since ggml-org/llama.cpp#12801 (April 2025):
// that of the values, and that of the keys, transposed, whose rows are then as long as a head's
// part that is not rotated.
void cut_latents(Layer& layer) {
  const auto* l = std::get_if<Latent>(&layer.mixer.kind);
  if (!l) return;
  const auto whole = std::find_if(layer.weights.begin(), layer.weights.end(), [&](const Weight& w) {
    return w.name == "self_attn.kv_b_proj" && w.columns == l->latent &&
           w.rows == checked_mul(l->heads, l->nope + l->v_width);
  });
  if (whole == layer.weights.end()) return;
  Weight keys = *whole, values = *whole;
  keys.name = "self_attn.k_b_proj";
  keys.rows = checked_mul(l->heads, l->latent);
  keys.columns = l->nope;
  values.name = "self_attn.v_b_proj";
  values.rows = checked_mul(l->heads, l->v_width);
  *whole = keys;
  layer.weights.insert(std::next(whole), values);
}

// Norms, biases, filters and routers stay in 32 bits.
bool stays_exact(const Weight& w) { return !w.is_matrix || w.role == Role::router; }

// Small matrices of Gemma 3n and 4 that stay as they were converted (tensor_allows_quantization).
bool stays_half(const Weight& w) {
  constexpr std::string_view kKept[] = {"altup", "laurel", "per_layer_model_proj"};
  return std::any_of(std::begin(kKept), std::end(kKept),
                     [&](std::string_view part) { return w.name.find(part) != w.name.npos; });
}

const Format& format_of(const FileType& type, const Facts& f, const Weight& w, Tensor tensor,
                        Place place) {
  if (stays_exact(w)) return format_named("fp32");
  if (stays_half(w)) return format_named(w.columns < 32 ? "fp32" : "fp16");
  return fitting(format_name(type, tensor, f, place), w.columns);
}

// Down projections are counted where there are no experts, else their layers are.
bool has_down(const Layer& layer) {
  return std::any_of(layer.weights.begin(), layer.weights.end(),
                     [](const Weight& w) { return w.is_matrix && w.name.ends_with("down_proj"); });
}

void use_in_layers(const FileType& type, const Facts& f, ModelSpec& model) {
  const auto mains = static_cast<std::int64_t>(main_layers(model).size());
  const auto with_values = std::count_if(model.layers.begin(), model.layers.end(), holds_values);
  Place layer{0, std::max<std::int64_t>(mains, 1)},
      down = layer, value{0, std::max<std::int64_t>(with_values, 1)};
  for (Layer& l : model.layers) {
    for (Weight& w : l.weights) {
      if (w.is_auxiliary) continue;
      const Tensor tensor = tensor_of(w, f, type);
      const bool counted = tensor == Tensor::down && f.experts <= 1;
      const Place place = tensor == Tensor::value ? value : counted ? down : layer;
      w.format = &format_of(type, f, w, tensor, place);
    }
    ++layer.i;
    down.i += has_down(l);
    value.i += holds_values(l);
  }
}

void use_in_ends(const FileType& type, const Facts& f, ModelSpec& model) {
  bool token_table = true;
  for (Weight& w : model.ends) {
    if (w.is_auxiliary) continue;
    const bool table = w.role == Role::embedding && w.columns > 1;
    const bool as_head = w.role == Role::head || (table && model.tied_head && token_table);
    if (table) token_table = false;
    const Format& base = format_named(type.base);
    if (stays_half(w))
      w.format = &format_named("fp16");
    else if (w.columns == 1 || w.name == "embed_positions" || w.name == "token_types")
      w.format = &format_named("fp32");
    else if (as_head && w.columns % base.block_elements != 0)
      w.format = &fitting("q8_0", w.columns);
    else
      w.format = &fitting(format_name(type,
                                      as_head ? Tensor::head
                                      : table ? Tensor::table
                                              : Tensor::other,
                                      f, {}),
                          w.columns);
  }
}

}  // namespace

const FileType* find_file_type(std::string_view name) {
  for (const FileType& type : file_types())
    if (type.name == name) return &type;
  return nullptr;
}

void use_file_type(const FileType& type, ModelSpec& model) {
  const Facts facts = facts_of(model);
  if (!has_word(kWholeLatents, model.model_type))
    for (Layer& layer : model.layers) cut_latents(layer);
  use_in_layers(type, facts, model);
  use_in_ends(type, facts, model);
  for (Weight& w : model.vision) w.format = &format_named("fp16");  // a file of its own
}

}  // namespace kvplan
