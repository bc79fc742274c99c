// SPDX-License-Identifier: Apache-2.0
// "assumptions", "warnings", and what --explain shows.
#pragma once
#include "cost/trace.h"
#include "error.h"
#include "plan/setup.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<Assumption> = std::tuple{
    field("what", &Assumption::what, "assumed"), field("value", &Assumption::value, "value"),
    field("basis", &Assumption::basis, "basis"), field("source", &Assumption::source, "because")};

template <>
inline constexpr auto description<Warning> = std::tuple{
    field("code", &Warning::code, "code"), field("message", &Warning::message, "warning")};

template <>
inline constexpr auto description<Trace::Term> = std::tuple{
    field("formula", &Trace::Term::formula, "formula"),
    field(
        "operands",
        [](const Trace::Term& t) {
          Object operands;
          for (const auto& [name, x] : t.operands) operands.emplace_back(name, value(x));
          return operands;
        },
        "with"),
    field("result", &Trace::Term::result, "gives"), field("unit", &Trace::Term::unit, "unit")};

}  // namespace kvplan
