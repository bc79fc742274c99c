// SPDX-License-Identifier: Apache-2.0
#include "model/recipe.h"

#include <algorithm>
#include <string>

#include "model/average.h"
#include "model/file_type.h"
#include "nearest.h"

namespace kvplan {
namespace {

// Formats that only caches have, and those of tables of indices.
constexpr std::string_view kNotOfWeights[] = {"int8-head", "fp8-head", "int4-head", "fp8-g128",
                                              "fp8-row8",  "int16",    "int32",     "int64"};

bool is_of_weights(const Format& format) {
  return std::find(std::begin(kNotOfWeights), std::end(kNotOfWeights), format.name) ==
         std::end(kNotOfWeights);
}

const Format& weight_format(std::string_view name) {
  const Format& format = format_named(name);
  if (!is_of_weights(format))
    throw Error("weights cannot have the format '" + std::string(format.name) + "'")
        .of("--weights")
        .advise("It is one of caches or of tables.");
  return format;
}

// Scales of the formats that a recipe replaces go with them; tables of indices and angles stay.
void drop_old_scales(ModelSpec& model) {
  const auto drop = [](std::vector<Weight>& weights) {
    std::erase_if(weights,
                  [](const Weight& w) { return w.is_auxiliary && w.name != "index_table"; });
  };
  for (Layer& layer : model.layers) drop(layer.weights);
  drop(model.ends);
  drop(model.vision);
}

// All matrices and tables; vectors keep the checkpoint's 16 bits.
void apply(const Format& format, ModelSpec& model) {
  const auto set = [&](std::vector<Weight>& weights) {
    for (Weight& w : weights) {
      if (w.is_auxiliary) continue;
      w.format = w.columns > 1 && w.role != Role::router ? &format
                 : model.native                          ? model.native
                                                         : &format_named("bf16");
    }
  };
  for (Layer& layer : model.layers) set(layer.weights);
  set(model.ends);
  for (Weight& w : model.vision)
    if (!w.format || format.bits >= 16)
      w.format = format.bits >= 16 ? &format : model.native ? model.native : &format_named("bf16");
}

void apply_exception(std::string_view text, ModelSpec& model) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto role = name == "experts" ? Role::routed_expert : find_role(name);
  if (equals == text.npos || !role)
    throw Error("'" + std::string(text) + "' is not ROLE=FORMAT")
        .of("--weights")
        .advise(
            "Roles are embedding, attention, state, mlp, router, experts, shared_expert, norm, "
            "head and vision.");
  const Format& format = weight_format(text.substr(equals + 1));
  const auto set = [&](std::vector<Weight>& weights) {
    for (Weight& w : weights)
      if (w.role == *role && !w.is_auxiliary) w.format = &format;
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
  model.average = average_format(name);
  const FileType* type = find_file_type(folded(name));
  if (type || model.average || find_format(name)) drop_old_scales(model);
  if (model.average) return apply(model.average->format, model);
  if (type) return use_file_type(*type, model);
  if (find_format(name)) return apply(weight_format(name), model);
  if (folded(name).starts_with("ud_") || folded(name).ends_with("_k_xl"))
    throw Error("'" + std::string(name) + "' is a mix of its vendor's own, another for each model")
        .of("--weights")
        .advise(
            "Give the GGUF file itself, whose header says what each tensor takes, or the size that "
            "its page says: --weights 19.8GB.");
  if (name.ends_with("bpw"))
    throw Error("'" + std::string(name) + "' is no average width of 1 to 16 bits").of("--weights");
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
  for (const FileType& type : file_types()) names.push_back(type.name);
  for (const Format& format : formats())
    if (is_of_weights(format) && !find_file_type(format.name)) names.push_back(format.name);
  return names;
}

}  // namespace kvplan
