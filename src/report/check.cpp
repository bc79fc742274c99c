// SPDX-License-Identifier: Apache-2.0
#include "report/check.h"

#include <fmt/format.h>

#include "report/numbers.h"

namespace kvplan {

std::string_view name_of(CheckLine::Verdict verdict) {
  switch (verdict) {
    case CheckLine::agrees:
      return "agrees";
    case CheckLine::differs:
      return "differs";
    case CheckLine::not_predicted:
      return "not predicted";
  }
  return "";
}

Value value(const Amount& amount) {
  return std::visit(
      [](auto x) {
        if constexpr (std::is_same_v<decltype(x), double>)
          return value(x, Show::ratio);
        else
          return value(x);
      },
      amount);
}

std::string sentence_on(const Remedy& remedy) {
  const Refusal& r = remedy.refusal;
  const auto amount = [](const std::optional<Printed<Bytes>>& p) { return shown(value(p->least)); };
  const std::string length = shown(value(remedy.length));
  const std::string where = r.device.empty() ? "" : " on " + r.device;
  switch (r.cause) {
    case Refusal::request_too_long:
      if (r.needed && r.available)
        return fmt::format("One request of {} tokens needs {} of cache, and {} are left for it.",
                           length, amount(r.needed), amount(r.available));
      return fmt::format("One request of {} tokens is longer than the {} that the cache holds.",
                         length, shown(value(r.longest)));
    case Refusal::no_cache:
      return "Weights, activations and what lies outside them leave no memory for a cache.";
    case Refusal::device_in_use:
      return fmt::format(
          "Only {} are free, less than the {} that the engine was to take: other programs hold the "
          "rest.",
          shown(value(r.available ? std::optional(r.available->least) : std::nullopt)),
          shown(value(r.needed ? std::optional(r.needed->least) : std::nullopt)));
    case Refusal::out_of_memory:
      return fmt::format("An allocation{}{} failed{}.", r.needed ? " of " + amount(r.needed) : "",
                         where, r.available ? " with " + amount(r.available) + " free" : "");
  }
  return {};
}

Value difference_of(const CheckLine& line) {
  const auto difference = line.difference();
  if (!difference) return {};
  if (std::holds_alternative<double>(line.logged)) return value(*difference);
  return value(static_cast<std::int64_t>(*difference), value(line.logged).show);
}

}  // namespace kvplan
