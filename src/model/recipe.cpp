// SPDX-License-Identifier: Apache-2.0
// File types of llama.cpp follow llama_tensor_get_type of its quantiser (ggml-org/llama.cpp,
// src/llama-quant.cpp) as of 2025: which tensors of which layers get more bits. Other recipes use
// one format for all matrices.
#include "model/recipe.h"

#include <algorithm>
#include <string>

#include "nearest.h"

namespace kvplan {
namespace {

// Layers of a stack that get more bits: the first and last eighth, and every third between.
bool gets_more_bits(std::int64_t i, std::int64_t n) {
  return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

struct FileType {
  std::string_view name, base;
  std::string_view head = "q6_k";
  std::string_view value_more = {},
                   value = {};  // attn_v in layers with more bits, and in the others; empty = base
  std::string_view down_more = {}, down = {};  // ffn_down likewise
  std::string_view attention_output = {};
  std::string_view experts = {};  // routed experts
};
constexpr FileType kFileTypes[] = {
    {.name = "q2_k",
     .base = "q2_k",
     .value_more = "q3_k",
     .value = "q3_k",
     .down_more = "q3_k",
     .down = "q3_k",
     .attention_output = "q3_k"},
    {.name = "q3_k_s", .base = "q3_k"},
    {.name = "q3_k_m",
     .base = "q3_k",
     .value_more = "q4_k",
     .value = "q4_k",
     .down_more = "q4_k",
     .attention_output = "q4_k"},
    {.name = "q3_k_l",
     .base = "q3_k",
     .value_more = "q5_k",
     .value = "q5_k",
     .down_more = "q5_k",
     .down = "q5_k",
     .attention_output = "q5_k"},
    {.name = "iq4_xs", .base = "iq4_xs", .value_more = "q5_k"},
    {.name = "q4_0", .base = "q4_0"},
    {.name = "q4_1", .base = "q4_1"},
    {.name = "q4_k_s", .base = "q4_k"},
    {.name = "q4_k_m", .base = "q4_k", .value_more = "q6_k", .down_more = "q6_k"},
    {.name = "q5_0", .base = "q5_0"},
    {.name = "q5_1", .base = "q5_1"},
    {.name = "q5_k_s", .base = "q5_k"},
    {.name = "q5_k_m", .base = "q5_k", .value_more = "q6_k", .down_more = "q6_k"},
    {.name = "q6_k", .base = "q6_k"},
    {.name = "q8_0", .base = "q8_0", .head = "q8_0"},
    {.name = "mxfp4_moe", .base = "q8_0", .head = "q8_0", .experts = "mxfp4"},
};

// Rows that do not fill the blocks of a k-quant are stored in a format of 32.
const Format* fitting(std::string_view name, std::int64_t columns) {
  const Format* format = &format_named(name);
  if (columns % format->block_elements == 0) return format;
  constexpr std::pair<std::string_view, std::string_view> kFallback[] = {
      {"q2_k", "iq4_nl"}, {"q3_k", "iq4_nl"}, {"iq4_xs", "iq4_nl"},
      {"q4_k", "q5_0"},   {"q5_k", "q5_1"},   {"q6_k", "q8_0"}};
  for (const auto& [from, to] : kFallback)
    if (from == name) return columns % 32 == 0 ? &format_named(to) : &format_named("fp16");
  return &format_named("fp16");
}

std::string_view or_base(std::string_view name, const FileType& type) {
  return name.empty() ? type.base : name;
}

std::string_view format_in_layer(const FileType& type, const Weight& w, bool more) {
  if (w.role == Role::routed_expert && !type.experts.empty()) return type.experts;
  if (w.name.ends_with("v_proj")) return or_base(more ? type.value_more : type.value, type);
  if (w.name.ends_with("down_proj")) return or_base(more ? type.down_more : type.down, type);
  if (w.name.ends_with("o_proj")) return or_base(type.attention_output, type);
  return type.base;
}

void apply(const FileType& type, ModelSpec& model) {
  const auto exact = &format_named("fp32");  // norms, biases, filters and routers stay in 32 bits
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  for (std::int64_t i = 0; i < layers; ++i)
    for (Weight& w : model.layers[static_cast<std::size_t>(i)].weights)
      w.format = !w.is_matrix || w.role == Role::router
                     ? exact
                     : fitting(format_in_layer(type, w, gets_more_bits(i, layers)), w.columns);
  bool token_table = true;
  for (Weight& w : model.ends) {
    if (w.columns == 1) {
      w.format = exact;
      continue;
    }
    const bool as_head =
        w.role == Role::head || (w.role == Role::embedding && model.tied_head && token_table);
    if (w.role == Role::embedding) token_table = false;
    w.format = fitting(as_head ? type.head : type.base, w.columns);
  }
  for (Weight& w : model.vision) w.format = &format_named("fp16");
}

// All matrices and tables; vectors keep the checkpoint's 16 bits.
void apply(const Format& format, ModelSpec& model) {
  const auto set = [&](std::vector<Weight>& weights) {
    for (Weight& w : weights)
      w.format = w.columns > 1 && w.role != Role::router ? &format
                 : model.native                          ? model.native
                                                         : &format_named("bf16");
  };
  for (Layer& layer : model.layers) set(layer.weights);
  set(model.ends);
  for (Weight& w : model.vision)
    if (!w.format || format.bits >= 16)
      w.format = format.bits >= 16 ? &format : model.native ? model.native : &format_named("bf16");
}

struct RoleName {
  std::string_view name;
  Role role;
};
constexpr RoleName kRoles[] = {{"embedding", Role::embedding},
                               {"attention", Role::attention},
                               {"state", Role::state},
                               {"mlp", Role::mlp},
                               {"router", Role::router},
                               {"experts", Role::routed_expert},
                               {"routed_expert", Role::routed_expert},
                               {"shared_expert", Role::shared_expert},
                               {"norm", Role::norm},
                               {"head", Role::head},
                               {"vision", Role::vision}};

void apply_exception(std::string_view text, ModelSpec& model) {
  const auto equals = text.find('=');
  const auto at = std::find_if(std::begin(kRoles), std::end(kRoles),
                               [&](const RoleName& r) { return r.name == text.substr(0, equals); });
  if (equals == text.npos || at == std::end(kRoles))
    throw Error("'" + std::string(text) + "' is not ROLE=FORMAT")
        .of("--weights")
        .advise(
            "Roles are embedding, attention, state, mlp, router, experts, shared_expert, norm, "
            "head and vision.");
  const Format& format = format_named(text.substr(equals + 1));
  const auto set = [&](std::vector<Weight>& weights) {
    for (Weight& w : weights)
      if (w.role == at->role) w.format = &format;
  };
  for (Layer& layer : model.layers) set(layer.weights);
  set(model.ends);
  set(model.vision);
}

std::string folded(std::string_view name) {
  std::string out;
  for (char c : name)
    out += c == '-' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

void apply_base(std::string_view name, ModelSpec& model) {
  if (name == "config") return;
  const std::string wanted = folded(name);
  for (const FileType& type : kFileTypes)
    if (type.name == wanted) return apply(type, model);
  if (const Format* format = find_format(name)) return apply(*format, model);
  std::vector<std::string> known;
  for (const std::string_view recipe : recipe_names()) known.emplace_back(recipe);
  const std::string near = did_you_mean(name, known);
  throw Error("unknown weight format '" + std::string(name) + "'")
      .of("--weights")
      .advise(near.empty() ? "Known are config, bf16, fp8, int8, int4-g128, q8_0, q4_k_m and more."
                           : near);
}

}  // namespace

ModelSpec apply_recipe(ModelSpec model, std::string_view recipe) {
  model.recipe = std::string(recipe);
  const auto comma = recipe.find(',');
  apply_base(recipe.substr(0, comma), model);
  for (std::size_t at = comma; at != recipe.npos;) {
    const auto next = recipe.find(',', at + 1);
    apply_exception(recipe.substr(at + 1, next == recipe.npos ? next : next - at - 1), model);
    at = next;
  }
  return model;
}

std::vector<std::string_view> recipe_names() {
  std::vector<std::string_view> names = {"config"};
  for (const FileType& type : kFileTypes) names.push_back(type.name);
  for (const Format& format : formats()) names.push_back(format.name);
  return names;
}

}  // namespace kvplan
