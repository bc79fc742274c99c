// SPDX-License-Identifier: Apache-2.0
#include "cost/deployment.h"

#include <algorithm>
#include <string>

namespace kvplan {
namespace {

void require(bool holds, const char* flag, std::int64_t count, std::int64_t of, const char* what) {
  if (holds) return;
  throw Error(std::string(flag) + " " + std::to_string(count) + " does not divide the model's " +
              std::to_string(of) + " " + what)
      .of(flag)
      .advise("Use a number that divides them.");
}

// Ranks of one tensor-parallel group that hold the same keys and values.
std::int64_t copies(const Mixer& mixer, std::int64_t tp) {
  const auto* a = std::get_if<Attention>(&mixer.kind);
  return a && !a->v_is_k ? std::max<std::int64_t>(1, tp / a->kv_heads) : tp;
}

void validate_mixer(const Mixer& mixer, const Parallelism& p) {
  if (const auto* a = std::get_if<Attention>(&mixer.kind)) {
    require(a->heads % p.tp == 0, "--tp", p.tp, a->heads, "attention heads");
    require(a->v_is_k || a->kv_heads % p.tp == 0 || p.tp % a->kv_heads == 0, "--tp", p.tp,
            a->kv_heads, "KV heads");
  } else if (const auto* l = std::get_if<Latent>(&mixer.kind)) {
    require(l->heads % p.tp == 0, "--tp", p.tp, l->heads, "attention heads");
  } else if (const auto* r = std::get_if<Recurrent>(&mixer.kind)) {
    if (r->kind != Recurrent::short_conv)
      require(r->v_heads % p.tp == 0, "--tp", p.tp, r->v_heads, "heads of recurrent layers");
  }
  if (!mixer.reach.empty() && p.dcp > 1)
    require(copies(mixer, p.tp) % p.dcp == 0, "--dcp", p.dcp, copies(mixer, p.tp),
            "copies of each KV head");
}

void validate_experts(const std::vector<const Layer*>& layers, const Parallelism& p) {
  if (p.ep == 1) return;
  const std::int64_t ranks = checked_mul(p.tp, p.dp);
  if (ranks % p.ep != 0 || (p.ep % p.tp != 0 && p.tp % p.ep != 0))
    throw Error("--ep " + std::to_string(p.ep) + " does not fit " + std::to_string(ranks) +
                " ranks (--tp x --dp)")
        .of("--ep")
        .advise("Expert parallelism reuses the ranks of tensor and data parallelism.");
  bool found = false;
  for (const Layer* layer : layers)
    for (const Weight& w : layer->weights)
      if (w.role == Role::routed_expert) {
        require(w.copies % p.ep == 0, "--ep", p.ep, w.copies, "experts");
        found = true;
      }
  if (!found) throw Error("the model has no experts to divide").of("--ep");
}

}  // namespace

std::pair<std::int64_t, std::int64_t> stage_layers(std::int64_t layers, std::int64_t stages,
                                                   std::int64_t stage) {
  const std::int64_t each = layers / stages, more = layers % stages;
  // Stages [stages - 1 - more, stages - 1) hold one more.
  const std::int64_t before = std::clamp<std::int64_t>(stage - (stages - 1 - more), 0, more);
  const std::int64_t after = std::clamp<std::int64_t>(stage + 1 - (stages - 1 - more), 0, more);
  return {stage * each + before, (stage + 1) * each + after};
}

void validate(const ModelSpec& model, const Parallelism& p) {
  for (const auto& [flag, n] :
       {std::pair{"--tp", p.tp}, {"--pp", p.pp}, {"--dp", p.dp}, {"--ep", p.ep}, {"--dcp", p.dcp}})
    if (n < 1) throw Error(std::string(flag) + " must be at least 1").of(flag);
  const auto layers = main_layers(model);
  if (p.pp > std::max<std::int64_t>(1, static_cast<std::int64_t>(layers.size())))
    throw Error("more pipeline stages than layers (" + std::to_string(layers.size()) + ")")
        .of("--pp");
  if (p.dcp > 1 && p.tp % p.dcp != 0)
    throw Error("--dcp " + std::to_string(p.dcp) + " does not divide --tp " + std::to_string(p.tp))
        .of("--dcp")
        .advise("Decode context parallelism reuses the ranks of tensor parallelism.");
  if (p.tp > 1)
    for (const Layer* layer : layers) validate_mixer(layer->mixer, p);
  validate_experts(layers, p);
}

}  // namespace kvplan
