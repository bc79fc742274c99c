// SPDX-License-Identifier: Apache-2.0
// vllm/config/speculative.py.
#include "engine/vllm/draft.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "nearest.h"

namespace kvplan::vllm {
namespace {

constexpr const char* kMethod = "speculative_config.method";
constexpr const char* kModel = "speculative_config.model";
constexpr const char* kTokens = "speculative_config.num_speculative_tokens";

struct Method {
  std::string_view name;
  Draft::Layers layers;
};
constexpr std::array kMethods = {
    Method{"mtp", Draft::own_mtp},         Method{"eagle", Draft::given},
    Method{"eagle3", Draft::given},        Method{"dflash", Draft::given},
    Method{"draft_model", Draft::given},   Method{"ngram", Draft::none},
    Method{"suffix", Draft::none},         Method{"medusa", Draft::none},
    Method{"mlp_speculator", Draft::none}, Method{"extract_hidden_states", Draft::none},
};

const Method& method_named(std::string_view name) {
  if (name.ends_with("_mtp")) name = "mtp";  // "deepseek_mtp", "qwen3_next_mtp": older spellings
  std::vector<std::string> known;
  for (const Method& m : kMethods) {
    if (m.name == name) return m;
    known.emplace_back(m.name);
  }
  throw Error("unknown speculative method '" + std::string(name) + "'")
      .of(kMethod)
      .advise(did_you_mean(name, known));
}

// A key of the draft model's own configuration.
std::string shape_key(const char* key) {
  return std::string("speculative_config.draft_model_config.hf_config.") + key;
}

std::optional<std::int64_t> shape(const Settings& settings, const char* key) {
  const auto value = settings.integer(shape_key(key));
  if (value && *value < 1) throw Error("must be at least 1").of(shape_key(key));
  return value;
}

// Layers of one kind, with a window where the draft slides.
std::vector<Layer> layers_given(const Settings& settings) {
  const auto layers = shape(settings, "num_hidden_layers");
  const auto kv_heads = shape(settings, "num_key_value_heads");
  const auto width = shape(settings, "head_dim");
  if (!layers || !kv_heads || !width)
    throw Error("the draft model's cache is not known: its shape is missing")
        .of(kMethod)
        .advise("Set num_hidden_layers, num_key_value_heads and head_dim under " + shape_key("") +
                " or plan without a draft.");
  Layer layer;
  layer.role = Layer::mtp;
  layer.mixer.kind = Attention{*kv_heads, *kv_heads, *width, *width};
  layer.mixer.reach = {All{}};
  if (const auto window = shape(settings, "sliding_window"))
    layer.mixer.reach = {Window{Tokens(*window)}};
  if (*layers > 1024) throw Error("is absurd").of(shape_key("num_hidden_layers"));
  return std::vector<Layer>(static_cast<std::size_t>(*layers), layer);
}

}  // namespace

Draft draft_of(const Settings& settings) {
  const auto name = settings.text(kMethod);
  if (!name) {
    if (!settings.text(kModel)) return {};
    throw Error("a draft model needs its method")
        .of(kModel)
        .advise(std::string("Set ") + kMethod + " too.");
  }
  const Method& method = method_named(*name);
  Draft draft{method.layers, settings.integer(kTokens).value_or(0), {}};
  if (draft.tokens < 1) throw Error("must be at least 1").of(kTokens);
  if (method.name == "extract_hidden_states") {
    const std::string key = shape_key("eagle_aux_hidden_state_layer_ids");
    const std::string ids = settings.text(key).value_or("");
    if (ids.empty()) throw Error("the layers whose states are kept are missing").of(key);
    draft.hidden_state_layers = 1 + std::count(ids.begin(), ids.end(), ',');
  }
  return draft;
}

ModelSpec drafted(ModelSpec model, const Draft& draft, const Settings& settings) {
  const auto is_mtp = [](const Layer& l) { return l.role == Layer::mtp; };
  if (draft.layers == Draft::own_mtp) {
    if (std::none_of(model.layers.begin(), model.layers.end(), is_mtp))
      throw Error("the model's configuration has no MTP layers").of(kMethod);
    return model;
  }
  std::erase_if(model.layers, is_mtp);
  if (draft.layers == Draft::given)
    for (Layer& layer : layers_given(settings)) model.layers.push_back(std::move(layer));
  return model;
}

}  // namespace kvplan::vllm
