// SPDX-License-Identifier: Apache-2.0
#include "report/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace kvplan {
namespace {

std::string kind_of(const Attention& a) {
  if (a.kv_heads == a.heads) return "MHA";
  return a.kv_heads == 1 ? "MQA" : fmt::format("GQA-{}", a.kv_heads);
}

std::string_view kind_of(const Recurrent& r) {
  switch (r.kind) {
    case Recurrent::mamba1:
      return "mamba1";
    case Recurrent::mamba2:
      return "mamba2";
    case Recurrent::gated_delta_net:
      return "gated delta net";
    case Recurrent::kda:
      return "KDA";
    case Recurrent::short_conv:
      return "short convolution";
    case Recurrent::compressor:
      return "compressor";
    case Recurrent::lightning:
      return "lightning attention";
    case Recurrent::rg_lru:
      return "RG-LRU";
    case Recurrent::rwkv:
      return "RWKV";
  }
  return "";
}

std::vector<std::string> kinds_of(const Mixer& mixer) {
  std::vector<std::string> kinds;
  if (const auto* a = std::get_if<Attention>(&mixer.kind)) kinds.push_back(kind_of(*a));
  if (std::holds_alternative<Latent>(mixer.kind)) kinds.emplace_back("MLA");
  if (const auto* r = std::get_if<Recurrent>(&mixer.kind)) kinds.emplace_back(kind_of(*r));
  for (const Reach& reach : mixer.reach) {
    if (std::holds_alternative<Window>(reach)) kinds.emplace_back("window");
    if (std::holds_alternative<Chunk>(reach)) kinds.emplace_back("chunk");
    if (std::holds_alternative<Compressed>(reach)) kinds.emplace_back("compressed");
    if (std::holds_alternative<Source>(reach)) kinds.emplace_back("cross");
  }
  if (mixer.sparse) kinds.emplace_back("sparse");
  if (mixer.beside) kinds.emplace_back(kind_of(*mixer.beside));
  return kinds;
}

}  // namespace

std::string attention_of(const ModelSpec& model) {
  std::vector<std::string> seen;
  for (const Layer* layer : main_layers(model))
    for (std::string& kind : kinds_of(layer->mixer))
      if (std::find(seen.begin(), seen.end(), kind) == seen.end()) seen.push_back(std::move(kind));
  return seen.empty() ? "none" : fmt::format("{}", fmt::join(seen, " + "));
}

std::string format_of(const RoleBytes& role) {
  if (!role.format) return {};
  return std::string(role.format->name) + (role.mixed ? " and others" : "");
}

Object model_object(const ModelSpec& model) {
  return {{"name", value(model.name)},
          {"source", value(model.source)},
          {"model_type", value(model.model_type)},
          {"attention", value(attention_of(model))},
          {"layers", value(main_layers(model).size())},
          {"max_context", value(model.max_context)},
          {"parameters", value(count_parameters(model))},
          {"weights", value(Object{{"recipe", value(model.recipe)},
                                   {"resident_bytes", value(resident_weights(model))},
                                   {"roles", value(weights_by_role(model))}})}};
}

Object deployment_object(const Setup& setup) {
  const Parallelism& p = setup.deployment.parallel;
  const EngineOptions& e = setup.engine;
  Object settings;
  for (const auto& [key, text] : e.settings) settings.emplace_back(key, value(text));
  return {{"engine", value(e.name)},
          {"engine_version", e.version.empty() ? Value{} : value(e.version)},
          {"settings", value(std::move(settings))},
          {"gpus", value(p.gpus())},
          {"tp", value(p.tp)},
          {"pp", value(p.pp)},
          {"dp", value(p.dp)},
          {"ep", value(p.ep)},
          {"dcp", value(p.dcp)},
          {"kv_format", value(setup.deployment.cache.name)},
          {"max_model_len", value(e.max_model_len)},
          {"source_tokens", value(setup.deployment.source_tokens)},
          {"shared_prefix", value(setup.deployment.shared_prefix)}};
}

}  // namespace kvplan
