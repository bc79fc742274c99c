// SPDX-License-Identifier: Apache-2.0
// "check": what an engine printed against what was predicted.
#pragma once
#include <string>
#include <string_view>

#include "plan/check.h"
#include "plan/remedy.h"
#include "report/record.h"

namespace kvplan {

std::string_view name_of(CheckLine::Verdict);  // "agrees"
Value value(const Amount&);
inline Value value(CheckLine::Verdict v) { return value(name_of(v)); }
// Why the engine did not start, as a sentence.
std::string sentence_on(const Remedy&);
// predicted - logged, shown as the amounts are.
Value difference_of(const CheckLine&);

template <>
inline constexpr auto description<CheckLine> =
    std::tuple{field("what", &CheckLine::what, "quantity"),
               field("line", &CheckLine::line, "line"),
               field(
                   "logged", [](const CheckLine& l) { return value(l.logged); }, "logged"),
               field(
                   "predicted", [](const CheckLine& l) { return value(l.predicted); }, "predicted"),
               field("low", [](const CheckLine& l) { return value(l.low); }),
               field("high", [](const CheckLine& l) { return value(l.high); }),
               field("difference", difference_of, "difference"),
               field("verdict", &CheckLine::verdict, "verdict"),
               field("reason", &CheckLine::reason, "reason")};

template <>
inline constexpr auto description<Missing> = std::tuple{
    field("what", &Missing::what, "not in the log"), field("option", &Missing::option, "say")};

template <>
inline constexpr auto description<Change> = std::tuple{
    field("how", &Change::how, "change"), field("fits", &Change::fits, "starts"),
    field("longest", &Change::longest, "longest request"), field("costs", &Change::costs, "costs")};

}  // namespace kvplan
