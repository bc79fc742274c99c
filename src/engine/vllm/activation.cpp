// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/activation.h"

#include <algorithm>

namespace kvplan::vllm {
namespace {

constexpr double kElement = 2;  // bytes of an activation
// Of twelve logs the formula is at most 6 % low, and 0.05 GiB where the peak is small.
constexpr double kLowShare = 0.97, kHighShare = 1.06;
constexpr auto kGibibyte = static_cast<double>(kGiB);
constexpr double kSlack = 0.06 * kGibibyte;
// DeepSeek-V4 (MiaAI-Lab/DeepSeek-v4-Flash-One-DGX-Spark#4): 1.39 GiB at T 2,048, 5.3 at 8,224.
constexpr double kCompressedPerToken = 0.65 * static_cast<double>(kMiB);

struct Widths {
  std::int64_t q = 0, kv = 0;
};

Widths widths_of(const Mixer& mixer) {
  if (const auto* a = std::get_if<Attention>(&mixer.kind))
    return {checked_mul(a->heads, a->k_width), checked_mul(a->kv_heads, a->k_width)};
  if (const auto* l = std::get_if<Latent>(&mixer.kind))
    return {checked_mul(l->heads, l->nope + l->rope), checked_mul(l->heads, l->v_width)};
  if (const auto* r = std::get_if<Recurrent>(&mixer.kind))
    return {r->conv_channels, checked_mul(r->v_heads, r->v_width)};
  return {};
}

std::int64_t inner_of(const Layer& layer, std::int64_t hidden) {
  std::int64_t inner = 0;
  for (const Weight& w : layer.weights) {
    if (w.role == Role::routed_expert) return 0;
    if (w.role == Role::mlp && w.is_matrix && w.rows == hidden) inner = std::max(inner, w.columns);
  }
  return inner;
}

bool norms_heads(const Layer& layer) {
  return std::any_of(layer.weights.begin(), layer.weights.end(), [](const Weight& w) {
    return w.name.find("q_norm") != std::string_view::npos;
  });
}

bool is_compressed(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    return std::any_of(l.mixer.reach.begin(), l.mixer.reach.end(),
                       [](const Reach& r) { return std::holds_alternative<Compressed>(r); });
  });
}

Bytes whole(double bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }

}  // namespace

double layer_bytes_per_token(const ActivationShape& s) {
  const auto tp = static_cast<double>(s.tp);
  const auto h = static_cast<double>(s.hidden), inner = static_cast<double>(s.inner) / tp;
  const auto q = static_cast<double>(s.q) / tp, kv = static_cast<double>(s.kv) / tp;
  const double ffn = 3 * inner + 3 * h;
  const double attention = 2 * q + 2 * kv + 4 * h + (s.normed_heads ? q + kv : 0);
  return kElement * std::max(ffn, attention);
}

double activation_peak(const ActivationShape& s, std::int64_t batched_tokens,
                       std::int64_t sequences, double sampler_bytes) {
  const auto tokens = static_cast<double>(batched_tokens);
  const double layers = tokens * layer_bytes_per_token(s);
  const double sampler =
      tokens * static_cast<double>(s.hidden) * kElement +
      static_cast<double>(sequences) * static_cast<double>(s.vocabulary) * sampler_bytes;
  return std::max(layers, sampler);
}

ActivationShape activation_shape(const ModelSpec& model, std::int64_t tp) {
  const bool compressed = is_compressed(model);
  ActivationShape widest;
  for (const Layer& layer : model.layers) {
    if (layer.role != Layer::main) continue;
    const Widths w = widths_of(layer.mixer);
    const ActivationShape s{model.hidden,
                            inner_of(layer, model.hidden),
                            w.q,
                            w.kv,
                            model.vocabulary,
                            tp,
                            norms_heads(layer),
                            compressed};
    if (widest.hidden == 0 || layer_bytes_per_token(s) > layer_bytes_per_token(widest)) widest = s;
  }
  return widest;
}

BudgetLine activation_line(const Served& served, const ActivationShape& shape) {
  const Serving& serving = served.serving;
  const Rules& rules = served.rules;
  // V0 profiled a chunk of prefill alone, which samples nothing.
  const bool samples = rules.samples_in_chunked_profile || !serving.chunked;
  const std::int64_t sequences = samples ? serving.sequences : 0;
  const auto peak = [&](double c) {
    double bytes = activation_peak(shape, serving.batched_tokens, sequences, c);
    if (shape.compressed)
      bytes = std::max(bytes, kCompressedPerToken * static_cast<double>(serving.batched_tokens));
    return bytes;
  };
  const Range vision =
      serving.profiles_vision && !served.model.vision.empty() ? rules.vision : Range{};
  const Range c = rules.sampler_bytes;
  BudgetLine line;
  line.value = whole(std::max(peak(c.value), vision.value * kGibibyte));
  line.low = whole(std::max(0.0, kLowShare * peak(c.low) - kSlack / 2));
  line.high = whole(std::max(kHighShare * peak(c.high) + kSlack, vision.high * kGibibyte));
  line.basis = Basis::engine_rule;
  line.source = "dummy run (vllm#10511, #10517, #23278)";
  return line;
}

}  // namespace kvplan::vllm
