// SPDX-License-Identifier: Apache-2.0
// Narrower weights, caches and activations.
#include <algorithm>

#include "cost/prefill.h"
#include "model/recipe.h"
#include "plan/levers/ask.h"

namespace kvplan::lever {
namespace {

// Average bits of a stored weight.
double weight_bits(const ModelSpec& model) {
  double bits = 0, elements = 0;
  for (const Layer& layer : model.layers)
    for (const Weight& w : layer.weights) {
      if (!w.is_matrix) continue;
      const auto n = static_cast<double>(w.elements());
      bits += n * w.format->bits;
      elements += n;
    }
  return elements > 0 ? bits / elements : 16;
}

struct Choice {
  std::string_view recipe;
  double bits;
};
std::vector<Choice> weight_choices(bool gguf) {
  if (gguf) return {{"q8_0", 8.5}, {"q4_k_m", 4.9}};
  return {{"fp8", 8}, {"int4-g128", 4.2}};
}

// The same device for an engine that multiplies in 16 bits whatever the weights' format.
DeviceSpec without_narrow_units(DeviceSpec device) {
  std::erase_if(device.peaks, [](const Peak& p) {
    return p.precision == Precision::fp8 || p.precision == Precision::int8 ||
           p.precision == Precision::fp4 || p.precision == Precision::int4;
  });
  return device;
}

// 8-bit weights whose activations the device multiplies in 8 bits too: before Ada there are units
// for int8 alone.
std::string narrow_recipe(const DeviceSpec& device) {
  const bool has_fp8 = std::any_of(device.peaks.begin(), device.peaks.end(),
                                   [](const Peak& p) { return p.precision == Precision::fp8; });
  return has_fp8 ? "fp8" : "int8-channel";
}

}  // namespace

void weight_formats(const Ask& ask, Levers& found) {
  const double bits = weight_bits(ask.q.setup.model);
  for (const Choice& c : weight_choices(ask.gguf)) {
    if (c.bits > bits * 0.95) continue;
    const std::string recipe(c.recipe);
    attempt(ask, found, recipe + " weights", "--weights " + recipe,
            c.bits < 6 ? "costs some quality: evaluate it on your task" : "",
            [&](Setup& s, Load&) { s.model = apply_recipe(ask.q.as_read, recipe); });
  }
}

void cache_format(const Ask& ask, Levers& found) {
  const Format* key = ask.q.setup.deployment.cache.key;
  if (key && key->bits < 16) return;
  const std::string format = ask.gguf ? "q8_0" : "fp8";
  attempt(ask, found, format + " KV cache", "--kv " + format, "",
          [&](Setup& s, Load&) { s.deployment.cache = cache_formats(format); });
}

// Weights of 8 bits or less, multiplied by 8-bit activations on the narrow units, against the same
// weights widened to 16 bits first.
void low_bit_activations(const Ask& ask, Levers& found) {
  if (ask.gguf) return;
  const DeviceSpec wide = without_narrow_units(*ask.q.setup.device);
  if (wide.peaks.size() == ask.q.setup.device->peaks.size()) return;  // it has no such units
  const bool narrow = weight_bits(ask.q.setup.model) < 9;
  Setup after = ask.q.setup;
  const std::string recipe = narrow_recipe(*ask.q.setup.device);
  if (!narrow) after.model = apply_recipe(ask.q.as_read, recipe);
  Setup before = after;
  before.device = wide;
  before.engine.device = ask.q.setup.device;
  Lever lever = compared("8-bit activations", narrow ? "" : "--weights " + recipe,
                         outcome(before, ask.q.load), outcome(after, ask.q.load),
                         narrow ? "counted: against widening the weights to 16 bits"
                                : "beside 8-bit weights: against widening them to 16 bits");
  if (narrow) lever.kind = Lever::in_place;
  if (narrow) lever.how = "the checkpoint's formats";
  found.push_back(std::move(lever));
}

}  // namespace kvplan::lever
