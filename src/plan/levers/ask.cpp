// SPDX-License-Identifier: Apache-2.0
#include "plan/levers/ask.h"

#include <algorithm>

namespace kvplan::lever {
namespace {

constexpr double kWorthwhile = 1.02;

std::optional<double> ratio(const std::optional<double>& after,
                            const std::optional<double>& before) {
  if (!after || !before || *before <= 0) return std::nullopt;
  return *after / *before;
}

std::optional<double> real(const std::optional<std::int64_t>& n) {
  return n ? std::optional(static_cast<double>(*n)) : std::nullopt;
}
std::optional<double> real(const std::optional<Seconds>& t) {
  return t ? std::optional(t->v) : std::nullopt;
}

}  // namespace

Ask::Ask(const LeverQuestion& question)
    : q(question),
      before(outcome(question.setup, question.load)),
      gguf(question.setup.engine.name == "llama.cpp" || question.setup.engine.name == "ollama") {
  const DecodeModel decode(q.setup.model, q.setup.deployment, q.setup.device.value());
  step = decode.at(q.load.context, q.load.batch);
}

std::string Ask::what_binds() const {
  switch (step.bound) {
    case Bound::compute:
      return "arithmetic binds here";
    case Bound::link:
      return "the link between GPUs binds here";
    case Bound::host:
      return "the host binds here";
    case Bound::cache:
      return "the chip's own cache holds all of it";
    case Bound::bandwidth:
      break;
  }
  return step.weight_bytes >= step.kv_bytes ? "reading the weights binds here"
                                            : "reading the KV cache binds here";
}

Lever compared(std::string name, std::string how, const Outcome& before, const Outcome& after,
               std::string remark) {
  Lever lever;
  lever.name = std::move(name);
  lever.how = std::move(how);
  lever.after = after;
  lever.speed_gain = ratio(after.tokens_per_second, before.tokens_per_second);
  lever.capacity_gain = ratio(real(after.users), real(before.users));
  lever.first_token_gain = ratio(real(before.first_token), real(after.first_token));
  lever.makes_it_fit = after.fits && !before.fits;
  lever.remark = std::move(remark);
  return lever;
}

void judge(Lever& lever, const Ask& ask) {
  lever.helps = lever.makes_it_fit || lever.best_gain() >= kWorthwhile;
  const bool known = lever.speed_gain || lever.capacity_gain || lever.first_token_gain;
  if (lever.helps || !known || lever.kind != Lever::change) return;
  const bool same_speed =
      lever.speed_gain.value_or(1) == 1 && lever.first_token_gain.value_or(1) == 1;
  lever.remark = same_speed ? "no gain: no further sequence fits" : "no gain: " + ask.what_binds();
}

Lever* attempt(const Ask& ask, Levers& found, std::string name, std::string how, std::string remark,
               const std::function<void(Setup&, Load&)>& change) {
  Setup setup = ask.q.setup;
  Load load = ask.q.load;
  try {
    change(setup, load);
    found.push_back(compared(std::move(name), std::move(how), ask.before, outcome(setup, load),
                             std::move(remark)));
    return &found.back();
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace kvplan::lever
