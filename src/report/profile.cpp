// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

namespace kvplan {

std::string subject_of(const Fit& fit) {
  return fit.format + (fit.format.empty() || fit.variant.empty() ? "" : " ") + fit.variant;
}

Object parameters_of(const Fit& fit) {
  Object all;
  std::visit(
      [&](const auto& law) {
        law.each(law, [&](const char* name, double v, double, double) {
          all.emplace_back(name, value(v));
        });
      },
      fit.law);
  return all;
}

std::optional<double> parameter(const Fit& fit, std::string_view name) {
  for (const Member& m : parameters_of(fit))
    if (m.key == name) return std::get<double>(m.value.v);
  return std::nullopt;
}

std::optional<Quality> judged(const Fit& fit) { return fit.holdout ? fit.holdout : fit.left_out; }

}  // namespace kvplan
