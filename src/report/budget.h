// SPDX-License-Identifier: Apache-2.0
// "budget" and "capacity": per GPU, the smallest rank's.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

struct NamedLine {
  std::string_view name;
  BudgetLine line;
};
// The lines of a budget in the order in which memory goes, the cache last.
std::vector<NamedLine> lines_of(const Budget&);
// An end of the interval; absent where there is none.
std::optional<Bytes> unless_exact(const BudgetLine&, Bytes end);

template <>
inline constexpr auto description<NamedLine> =
    std::tuple{field("name", &NamedLine::name, "part"),
               field(
                   "bytes", [](const NamedLine& n) { return n.line.value; }, "size"),
               field(
                   "low_bytes", [](const NamedLine& n) { return unless_exact(n.line, n.line.low); },
                   "at least")
                   .where_it_varies(),
               field(
                   "high_bytes",
                   [](const NamedLine& n) { return unless_exact(n.line, n.line.high); }, "at most")
                   .where_it_varies(),
               field(
                   "basis", [](const NamedLine& n) { return n.line.basis; }, "basis"),
               field(
                   "source", [](const NamedLine& n) { return n.line.source; }, "source")
                   .where_it_varies()};

template <>
inline constexpr auto description<Budget> = std::tuple{
    field("memory_bytes", &Budget::memory, "memory"),
    field("utilization", &Budget::utilization, "utilization").as(Show::percent),
    field(
        "reserved_bytes", [](const Budget& b) { return b.reserved.value; }, "reserved"),
    field(
        "weights_bytes", [](const Budget& b) { return b.weights.value; }, "weights"),
    field(
        "adapters_bytes", [](const Budget& b) { return b.adapters.value; }, "adapters"),
    field(
        "activation_bytes", [](const Budget& b) { return b.activation.value; }, "activations"),
    field(
        "non_torch_bytes", [](const Budget& b) { return b.non_torch.value; }, "context"),
    field(
        "graph_bytes", [](const Budget& b) { return b.graph.value; }, "graphs"),
    field(
        "kv_pool_bytes", [](const Budget& b) { return b.kv_pool.value; }, "KV cache"),
    field("lines", [](const Budget& b) { return lines_of(b); })};

template <>
inline constexpr auto description<Capacity> =
    std::tuple{field("block_tokens", &Capacity::block_tokens, "tokens per block").where_it_varies(),
               field("blocks", &Capacity::blocks, "blocks").where_it_varies(),
               field("kv_tokens", &Capacity::kv_tokens, "tokens").where_it_varies(),
               field("max_concurrency", &Capacity::max_concurrency, "requests of full length")
                   .as(Show::ratio)
                   .where_it_varies(),
               field("max_context", &Capacity::max_context, "longest request").where_it_varies()};

}  // namespace kvplan
