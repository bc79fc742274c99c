// SPDX-License-Identifier: Apache-2.0
// Speculative decoding with what the model brings (MTP layers), else with an assumed small draft.
#include "plan/speculation.h"

#include <algorithm>
#include <cmath>

#include "cost/breakdown.h"
#include "model/parameters.h"
#include "plan/levers/ask.h"

namespace kvplan::lever {
namespace {

struct Draft {
  std::int64_t tokens = 0;  // drafted per pass
  double acceptance = 0;    // of each
  double cost = 0;          // of a drafted token, in plain steps
  Bytes bytes;              // of the drafter, per GPU
  std::string how;
  Basis basis = Basis::assumed;
};

// An assumed draft model: a twentieth of the target, 70 % accepted (Leviathan et al. 2023, table 3:
// 0.5 to 0.9).
Draft small_model(const Ask& ask) {
  constexpr double kShare = 0.05;
  Draft d{4,
          0.7,
          kShare,
          {},
          "a draft model of 5 % of its size, 4 tokens, 70 % accepted",
          Basis::assumed};
  const double weights = resident_weights(ask.q.setup.model).real();
  d.bytes = Bytes(static_cast<std::int64_t>(
      kShare * weights / static_cast<double>(ask.q.setup.deployment.parallel.gpus())));
  return d;
}

// The model's own draft layers. The first is accepted in 85 to 90 % (DeepSeek-V3 report 2024,
// section 5.4.3).
std::optional<Draft> own_layers(const Ask& ask) {
  const Setup& now = ask.q.setup;
  ModelSpec drafter = now.model;
  std::erase_if(drafter.layers, [](const Layer& l) { return l.role != Layer::mtp; });
  if (drafter.layers.empty()) return std::nullopt;
  drafter.layers.resize(1);
  drafter.layers[0].role = Layer::main;
  drafter.layers[0].mixer.shares_cache_of.reset();
  Deployment flat = now.deployment;
  flat.parallel.pp = 1;
  const DecodeModel model(drafter, flat, now.device.value());
  const auto step = model.at(ask.q.load.context, ask.q.load.batch).seconds;
  if (!step || !ask.step.seconds) return std::nullopt;
  const Bytes all = resident_weights(now.model, true) - resident_weights(now.model);
  return Draft{1,
               0.85,
               *step / *ask.step.seconds,
               Bytes(all.n / flat.parallel.gpus()),
               "its own draft layer (MTP), 1 token, 85 % accepted",
               Basis::published};
}

// A pass that verifies t tokens of each sequence reads weights and caches as one step does, and
// computes as t steps do.
Seconds verification(const Ask& ask, std::int64_t t) {
  const Setup& now = ask.q.setup;
  const Load& load = ask.q.load;
  const DecodeModel decode(now.model, now.deployment, *now.device);
  Seconds arithmetic;
  for (const Portion& p :
       decode_breakdown(now.model, now.deployment, *now.device, load.context, load.batch))
    if (p.arithmetic) arithmetic += *p.arithmetic;
  const auto wide = decode.at(Tokens(1), checked_mul(load.batch, t)).seconds;
  return std::max(
      {*ask.step.seconds, wide.value_or(Seconds(0)), static_cast<double>(t) * arithmetic});
}

}  // namespace

void speculation(const Ask& ask, Levers& found) {
  if (!ask.before.tokens_per_second || !ask.step.seconds) return;
  const auto own = own_layers(ask);
  const Draft draft = own ? *own : small_model(ask);
  const double pass = verification(ask, draft.tokens + 1) / *ask.step.seconds;
  const double gain = speculative_speedup(draft.acceptance, draft.tokens, draft.cost, pass);
  const double tokens = expected_tokens_per_pass(draft.acceptance, draft.tokens);
  // The drafter's weights leave less for the cache, and each sequence keeps the tokens ahead.
  Lever* lever =
      attempt(ask, found, "speculative decoding", draft.how, "", [&](Setup& s, Load& load) {
        s.engine.reserve = s.engine.reserve.value_or(Bytes(0)) + draft.bytes;
        load.context = load.context + Tokens(draft.tokens);
      });
  if (!lever) return;
  lever->after.tokens_per_second = *ask.before.tokens_per_second * gain;
  lever->speed_gain = gain;
  lever->first_token_gain.reset();
  lever->basis = draft.basis;
  const auto tenths = [](double x) {
    const auto n = static_cast<std::int64_t>(std::lround(10 * x));
    return std::to_string(n / 10) + "." + std::to_string(n % 10);
  };
  lever->remark = tenths(tokens) + " tokens per pass, each pass " +
                  tenths(pass + draft.cost * static_cast<double>(draft.tokens)) + " steps";
  if (lever->capacity_gain.value_or(1) < 1) lever->remark += "; its memory is missing in the cache";
}

}  // namespace kvplan::lever
