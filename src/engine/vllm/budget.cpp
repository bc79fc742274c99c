// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/budget.h"

#include "engine/budget_lines.h"
#include "engine/vllm/adapters.h"

namespace kvplan::vllm {
namespace {

// GiB. Captured graphs take 0.1 to 0.7; their estimate was 0.09 to 0.49 in most logs, several
// times more where many sizes are captured (club-3090#104, #1087, runner#251).
constexpr Range kGraphs{0.05, 0.36, 0.7};

Bytes gib(double n) { return Bytes(static_cast<std::int64_t>(n * static_cast<double>(kGiB))); }

BudgetLine line(const Range& r, std::string_view source) {
  return line_between(gib(r.low), gib(r.value), gib(r.high), Basis::engine_rule, source);
}

// By the number of captured sizes: those logs captured 51 by default, each after the first a little
// (vllm/v1/worker/gpu/cudagraph_utils.py of 0.33.0).
Range graphs_of(std::int64_t sizes) {
  constexpr double kDefault = 51;
  const double share = static_cast<double>(sizes) / kDefault;
  return {std::min(share, 1.0) * kGraphs.low, 0.06 + (kGraphs.value - 0.06) * share,
          0.1 + (kGraphs.high - 0.1) * share};
}

BudgetLine graph_line(const Rules& rules, const Serving& serving) {
  if (!rules.graphs_in_budget || serving.eager || serving.graphs == 0)
    return exact_line(Bytes(0), "CUDA graphs are outside this version's budget, or off");
  return line(serving.graphs ? graphs_of(*serving.graphs) : kGraphs,
              "estimate of CUDA graphs (vllm#38284)");
}

std::string_view source_of_weights(const Serving& serving) {
  if (serving.offload.bytes.n > 0 || serving.offload.group > 0)
    return "without what is left to the host";
  return serving.draft.layers == Draft::given ? "fullest rank, without the draft model"
                                              : "as vLLM pads vocabulary and experts";
}

}  // namespace

Budget budget_of(const Served& served, const RankWeights& weights,
                 const ActivationShape& activation, const DeviceSpec& device,
                 std::optional<Bytes> reserve) {
  const Rules& rules = served.rules;
  const Serving& serving = served.serving;
  const bool several = served.parallel.tp * served.parallel.pp > 1;
  Budget b;
  b.memory = device.memory.value;
  b.reserved = exact_line(reserve.value_or(Bytes(0)), "--reserve");
  b.weights = line_between(std::max(weights.low, Bytes(0)), weights.value, weights.value,
                           Basis::engine_rule, source_of_weights(serving));
  b.adapters = adapter_line(served);
  b.activation = activation_line(served, activation);
  b.non_torch = line(several ? rules.non_torch_several : rules.non_torch_single,
                     "driver and collectives, start-up logs");
  b.graph = graph_line(rules, serving);
  if (serving.kv_cache_memory) {
    b.kv_pool = exact_line(*serving.kv_cache_memory, "kv_cache_memory_bytes");
    return b;
  }
  b.utilization = serving.utilization;
  const BudgetLine allowed =
      exact_line(Bytes(static_cast<std::int64_t>(b.memory.real() * serving.utilization)));
  b.kv_pool =
      left_after(allowed, {b.reserved, b.weights, b.adapters, b.activation, b.non_torch, b.graph});
  b.kv_pool.source = "vllm/v1/worker/gpu_worker.py";
  return b;
}

}  // namespace kvplan::vllm
