// SPDX-License-Identifier: Apache-2.0
// "assumptions", "warnings", and what --explain shows.
#pragma once
#include <string>

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
inline constexpr auto description<Trace::Operand> =
    std::tuple{field("name", &Trace::Operand::name), field("value", &Trace::Operand::value),
               field("unit", &Trace::Operand::unit)};

// "layers 32, entry 4,096 B": operands as people read them, exact.
std::string operands_text(const Trace::Term&);
std::string result_text(const Trace::Term&);

template <>
inline constexpr auto description<Trace::Term> =
    std::tuple{field("formula", &Trace::Term::formula, "formula"),
               field("operands", &Trace::Term::operands),
               field("with", operands_text, "with"),
               field("result", &Trace::Term::result),
               field("unit", &Trace::Term::unit),
               field("gives", result_text, "gives")};

}  // namespace kvplan
