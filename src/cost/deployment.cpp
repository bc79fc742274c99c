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

void validate_mixer(const Mixer& mixer, std::int64_t tp) {
  if (const auto* a = std::get_if<Attention>(&mixer.kind)) {
    require(a->heads % tp == 0, "--tp", tp, a->heads, "attention heads");
    require(a->kv_heads % tp == 0 || tp % a->kv_heads == 0, "--tp", tp, a->kv_heads, "KV heads");
  } else if (const auto* l = std::get_if<Latent>(&mixer.kind)) {
    require(l->heads % tp == 0, "--tp", tp, l->heads, "attention heads");
  } else if (const auto* r = std::get_if<Recurrent>(&mixer.kind)) {
    require(r->v_heads % tp == 0, "--tp", tp, r->v_heads, "heads of recurrent layers");
  }
}

}  // namespace

void validate(const ModelSpec& model, const Parallelism& p) {
  for (const auto& [flag, n] :
       {std::pair{"--tp", p.tp}, {"--pp", p.pp}, {"--dp", p.dp}, {"--ep", p.ep}, {"--dcp", p.dcp}})
    if (n < 1) throw Error(std::string(flag) + " must be at least 1").of(flag);
  const auto layers = main_layers(model);
  if (p.pp > static_cast<std::int64_t>(layers.size()))
    throw Error("more pipeline stages than layers (" + std::to_string(layers.size()) + ")")
        .of("--pp");
  if (p.dcp > 1 && p.tp % p.dcp != 0)
    throw Error("--dcp " + std::to_string(p.dcp) + " does not divide --tp " + std::to_string(p.tp))
        .of("--dcp")
        .advise("Decode context parallelism reuses the ranks of tensor parallelism.");
  for (const Layer* layer : layers) {
    if (p.tp > 1) validate_mixer(layer->mixer, p.tp);
    for (const Weight& w : layer->weights)
      if (w.role == Role::routed_expert && p.ep > 1)
        require(w.copies % p.ep == 0, "--ep", p.ep, w.copies, "experts");
  }
}

}  // namespace kvplan
