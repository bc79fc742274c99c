// SPDX-License-Identifier: Apache-2.0
#include "report/notes.h"

#include <fmt/format.h>

#include <cmath>

#include "report/numbers.h"

namespace kvplan {
namespace {

// Whole numbers to the last digit; others to six.
std::string exact(double x, std::string_view unit) {
  constexpr double kWhole = 1LL << 53;
  const bool whole = std::abs(x) < kWhole && x == std::floor(x) && unit != "s";
  const std::string number =
      whole ? shown(static_cast<std::int64_t>(x), Show::count) : fmt::format("{:.6g}", x);
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

}  // namespace

std::string operands_text(const Trace::Term& term) {
  std::string text;
  for (const Trace::Operand& o : term.operands)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", o.name, exact(o.value, o.unit));
  return text;
}

std::string result_text(const Trace::Term& term) { return exact(term.result, term.unit); }

}  // namespace kvplan
