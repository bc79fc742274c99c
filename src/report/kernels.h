// SPDX-License-Identifier: Apache-2.0
// "kernels": what a profile expects of each kernel of a step or a prompt.
#pragma once
#include <optional>
#include <string>

#include "cost/expected.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

// "87 rows, 2,048 -> 7,168" of a product; likewise for the others.
std::string size_of(const Shape&);
// Of what is read: "fp8"; empty for a collective.
std::optional<std::string> format_of(const Shape&);

template <>
inline constexpr auto description<KernelTime> = std::tuple{
    field(
        "class", [](const KernelTime& k) { return class_of(k.shape); }, "kernel"),
    field(
        "size", [](const KernelTime& k) { return size_of(k.shape); }, "size"),
    field(
        "format", [](const KernelTime& k) { return format_of(k.shape); }, "format"),
    field("count", &KernelTime::count, "times"),
    field(
        "seconds",
        [](const KernelTime& k) { return k.once ? std::optional(k.once->value) : std::nullopt; },
        "once"),
    field(
        "all_seconds",
        [](const KernelTime& k) { return k.once ? std::optional(k.all()->value) : std::nullopt; },
        "all")
        .between("all_low", "all_high"),
    field("all_low",
          [](const KernelTime& k) { return k.once ? std::optional(k.all()->low) : std::nullopt; }),
    field("all_high", [](const KernelTime& k) {
      return k.once ? std::optional(k.all()->high) : std::nullopt;
    })};

}  // namespace kvplan
