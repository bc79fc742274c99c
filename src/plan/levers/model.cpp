// SPDX-License-Identifier: Apache-2.0
// Another model, or the same one trained further: for information.
#include <algorithm>
#include <cmath>

#include "model/parameters.h"
#include "model/recipe.h"
#include "model/variants.h"
#include "plan/levers/ask.h"

namespace kvplan::lever {
namespace {

constexpr const char* kTraining = "needs a model trained or converted so; quality is not computed";

std::string mebibytes(Bytes bytes) { return std::to_string(ceil_div(bytes.n, kMiB)) + " MiB"; }

}  // namespace

// Fewer KV heads, and MLA: the largest gain of the variants that a model could be converted to.
void fewer_heads(const Ask& ask, Levers& found) {
  std::vector<Variant> variants;
  try {
    variants = attention_variants(ask.q.setup.model);
  } catch (const Error&) {  // no attention over tokens
    return;
  }
  const auto own =
      std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return v.original; });
  for (const Variant& v : variants) {
    const bool half = own != variants.end() && own->kv_heads && v.kv_heads &&
                      v.kind != Variant::window && *v.kv_heads * 2 == *own->kv_heads;
    if (v.original || (v.kind != Variant::mla && !half)) continue;
    if (Lever* lever = attempt(ask, found, v.name + " attention", "another model", kTraining,
                               [&](Setup& s, Load&) { s.model = v.model; }))
      lever->kind = Lever::model;
  }
}

// Two of four weights are kept, with two bits each that say which (Mishra et al. 2021).
void pruning(const Ask& ask, Levers& found) {
  if (ask.gguf || !ask.step.seconds || !ask.before.tokens_per_second) return;
  Bytes matrices;
  double bits = 0, kept_bits = 0;
  for (const Layer* layer : main_layers(ask.q.setup.model))
    for (const Weight& w : layer->weights) {
      if (!w.is_matrix || w.format->bits < 8) continue;
      const auto n = static_cast<double>(w.elements());
      bits += n * w.format->bits;
      kept_bits += n * (w.format->bits / 2 + 1);
      matrices += stored_bytes(*w.format, w.rows, w.columns) * w.copies;
    }
  if (bits <= 0) return;
  const double saved =
      (1 - kept_bits / bits) * matrices.real() / resident_weights(ask.q.setup.model).real();
  const std::int64_t gpus = ask.q.setup.deployment.parallel.gpus();
  const Bytes freed(static_cast<std::int64_t>((1 - kept_bits / bits) * matrices.real() /
                                              static_cast<double>(gpus)));
  Lever* lever = attempt(
      ask, found, "2:4 pruned weights", "another checkpoint", kTraining,
      [&](Setup& s, Load&) { s.engine.reserve = s.engine.reserve.value_or(Bytes(0)) - freed; });
  if (!lever) return;
  lever->kind = Lever::model;
  lever->basis = Basis::assumed;
  const double weights = ask.step.weight_bytes.real(), cache = ask.step.kv_bytes.real();
  lever->speed_gain =
      ask.step.bound == Bound::bandwidth ? (weights + cache) / (weights * (1 - saved) + cache) : 1;
  lever->after.tokens_per_second = *ask.before.tokens_per_second * *lever->speed_gain;
}

// A pair of thin matrices beside each matrix of the main layers, in 16 bits (Hu et al. 2021).
void adapters(const Ask& ask, Levers& found) {
  constexpr std::int64_t kRank = 16;
  if (ask.gguf) return;
  std::int64_t elements = 0;
  for (const Layer* layer : main_layers(ask.q.setup.model))
    for (const Weight& w : layer->weights)
      if (w.is_matrix && w.role != Role::routed_expert && w.role != Role::router)
        elements = checked_add(
            elements, checked_mul(checked_mul(kRank, checked_add(w.rows, w.columns)), w.copies));
  if (elements == 0) return;
  Lever lever;
  lever.kind = Lever::in_place;
  lever.name = "LoRA adapters";
  lever.how = "max_loras, max_lora_rank";
  lever.after = ask.before;
  const bool followed = ask.q.setup.engine.name == "vllm";
  lever.remark =
      std::string(followed ? "in the budget where --set asks for them" : "not in this budget") +
      ": each slot of rank 16 takes " + mebibytes(Bytes(checked_mul(elements, 2))) +
      " over all GPUs, experts left out";
  found.push_back(std::move(lever));
}

}  // namespace kvplan::lever
