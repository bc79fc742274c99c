// SPDX-License-Identifier: Apache-2.0
#include "report/layouts.h"

#include <fmt/format.h>

#include "report/numbers.h"

namespace kvplan {

std::string text_of(const Parallelism& p) {
  std::string text;
  for (const auto& [name, n] :
       {std::pair{"TP", p.tp}, {"PP", p.pp}, {"DP", p.dp}, {"EP", p.ep}, {"DCP", p.dcp}})
    if (n > 1) text += fmt::format("{}{}{}", text.empty() ? "" : " ", name, n);
  return text.empty() ? "1 GPU" : text;
}

std::string_view name_of(LayoutRow::Verdict verdict) {
  switch (verdict) {
    case LayoutRow::chosen:
      return "chosen";
    case LayoutRow::slower:
      return "slower";
    case LayoutRow::more_gpus:
      return "more-gpus";
    case LayoutRow::across_nodes:
      return "across-nodes";
    case LayoutRow::no_room:
      return "no-room";
    case LayoutRow::few_users:
      return "few-users";
    case LayoutRow::too_slow:
      return "too-slow";
  }
  return "";
}

std::string remark_of(const LayoutRow& row) {
  const std::string own = row.own ? "this plan; " : "";
  switch (row.verdict) {
    case LayoutRow::chosen:
      return own + "fewest GPUs, fastest of these";
    case LayoutRow::slower:
      if (row.relative && *row.relative > 0.995) return own + "as fast";
      return own + (row.relative ? fmt::format("{:.0f} % slower", 100 * (1 - *row.relative))
                                 : "holds it");
    case LayoutRow::more_gpus:
      return own + "more GPUs than the load needs";
    case LayoutRow::across_nodes:
      return own + "reduces across nodes of 8";
    case LayoutRow::no_room:
      return own + fmt::format("lacks {}", shown(value(Bytes(-row.pool.n))));
    case LayoutRow::few_users:
      return own + fmt::format("holds {} of {}", row.users.value_or(0), row.batch);
    case LayoutRow::too_slow:
      return own + "slower than asked";
  }
  return "";
}

}  // namespace kvplan
