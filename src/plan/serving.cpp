// SPDX-License-Identifier: Apache-2.0
#include "plan/serving.h"

#include <algorithm>

#include "cost/decode.h"
#include "cost/prefill.h"
#include "plan/expectation.h"
#include "plan/room.h"

namespace kvplan {
namespace {

constexpr std::int64_t kPassTokens = 8192;  // vLLM's and TensorRT-LLM's own choice on large GPUs

// All steps of one request, when `users` share each. A step's context is the shorter end of its
// span, so that no sum of exact steps is less.
Seconds decode_time(const DecodeModel& model, const Requests& r) {
  constexpr std::int64_t kSpans = 64;
  const std::int64_t spans = std::min(kSpans, r.output.n);
  Seconds sum;
  for (std::int64_t i = 0; i < spans; ++i) {
    const std::int64_t from = r.output.n * i / spans, to = r.output.n * (i + 1) / spans;
    if (const auto step = model.at(Tokens(r.input.n + from), r.users).seconds)
      sum += *step * static_cast<double>(to - from);
  }
  return sum;
}

// Prompts that engines take into one pass of all replicas.
std::int64_t prompts_of_a_pass(const Setup& setup, const Requests& r) {
  const std::int64_t of_one = std::max<std::int64_t>(1, kPassTokens / r.input.n);
  return std::min(checked_mul(of_one, setup.deployment.parallel.dp), r.users);
}

void expect(const Setup& setup, Serving& s) {
  const Requests& r = s.requests;
  const Expected step = expected_step(setup, {r.held(), r.users}, std::nullopt);
  const std::int64_t prompts = prompts_of_a_pass(setup, r);
  const Expected pass = expected_prompt(setup, {r.input, prompts}, std::nullopt);
  if (!step.time || !pass.time) {
    s.why_not = step.time ? pass.why_not : step.why_not;
    return;
  }
  const Estimate steps =
      static_cast<double>(r.output.n) / static_cast<double>(r.users) * *step.time;
  const Estimate prompt = 1 / static_cast<double>(prompts) * *pass.time;
  s.prompt_share = prompt.value.v / (steps.value.v + prompt.value.v);
  s.expected = s.ceiling ? no_faster_than(*s.ceiling, steps + prompt) : steps + prompt;
}

}  // namespace

Serving serving(const Setup& setup, const Requests& r) {
  Serving s;
  s.requests = r;
  s.fits = Room(setup).holds({r.held(), r.users});
  const DeviceSpec& device = setup.device.value();
  const DecodeModel decode(setup.model, setup.deployment, device);
  const Prefill prompts = prefill(setup.model, setup.deployment, device, r.input, r.users);
  const Prefill alone = prefill(setup.model, setup.deployment, device, r.input, 1);
  const Step step = decode.at(r.held(), r.users);
  if (prompts.seconds && alone.seconds && step.seconds) {
    const auto users = static_cast<double>(r.users);
    const Seconds steps = decode_time(decode, r) * (1 / users),
                  prompt = *prompts.seconds * (1 / users);
    s.ceiling = std::max(steps, prompt);
    s.bound = prompt < steps ? step.bound : prompts.bound;
    s.least = *alone.seconds + decode_time(decode, {r.input, r.output, 1});
  }
  if (setup.profile || setup.runs) expect(setup, s);
  return s;
}

}  // namespace kvplan
