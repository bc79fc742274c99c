// SPDX-License-Identifier: Apache-2.0
#include "engine/sglang.h"

#include <algorithm>

#include "cost/rank.h"
#include "engine/budget_lines.h"
#include "engine/settings.h"
#include "engine/sglang/fraction.h"
#include "engine/sglang/pool.h"
#include "engine/stages.h"

namespace kvplan {
namespace {

using namespace sglang;

// Driver, NCCL and communicators before the weights: 1.77 to 2.01 GiB at TP8 (sglang#11716), less
// on one GPU.
BudgetLine outside_torch(const Parallelism& p) {
  constexpr std::int64_t kTenth = kGiB / 10;
  const char* source = "start-up logs (sglang#11716)";
  if (p.gpus() > 1)
    return line_between(Bytes(4 * kTenth), Bytes(12 * kTenth), Bytes(20 * kTenth),
                        Basis::engine_rule, source);
  return line_between(Bytes(2 * kTenth), Bytes(4 * kTenth), Bytes(8 * kTenth), Basis::engine_rule,
                      source);
}

// Each rank leaves matrices to the host until it has left so many GiB.
Bytes offloaded(const EngineOptions& options, Bytes weights) {
  const double gib = Settings(options, site_of(options)).number("cpu_offload_gb").value_or(0);
  if (!(gib >= 0 && gib < 1e6)) throw Error("must be a size in GiB").of("cpu_offload_gb");
  return std::min(weights, Bytes(static_cast<std::int64_t>(gib * static_cast<double>(kGiB))));
}

Deployment as_kept(const EngineOptions& options, const ModelSpec& model, Deployment deployment) {
  deployment.cache = formats_of(options, model, deployment.cache);
  return deployment;
}

class Sglang final : public Engine {
 public:
  Sglang(const EngineOptions& options, const ModelSpec& model, const Deployment& deployment)
      : options_(options),
        model_(model),
        parallel_(deployment.parallel),
        serving_(serving_of(options, model, parallel_)),
        weights_(resident_on_fullest_gpu(model, parallel_)) {
    const auto layers = static_cast<std::int64_t>(main_layers(model).size());
    for (const auto& groups : groups_of_stages(model, as_kept(options, model, deployment)))
      ranks_.push_back(rank_of(groups, serving_, parallel_.tp / serving_.attention_dp, layers));
  }

  Budget budget(const DeviceSpec& device) const override {
    Budget b;
    b.memory = device.memory.value;
    b.non_torch = outside_torch(parallel_);
    const Fraction f = memory_fraction(options_, model_, parallel_, b.memory);
    b.utilization = f.value;
    const BudgetLine free = left_after(exact_line(b.memory), {b.non_torch});
    const auto rest = [&](Bytes bytes, double fraction) {
      return Bytes(static_cast<std::int64_t>(bytes.real() * (1 - fraction)));
    };
    b.reserved =
        line_between(rest(free.low, f.high), rest(free.value, f.value), rest(free.high, f.low),
                     Basis::engine_rule, "activations and graphs: 1 - mem_fraction_static");
    if (options_.reserve)
      for (Bytes BudgetLine::*side : {&BudgetLine::low, &BudgetLine::value, &BudgetLine::high})
        b.reserved.*side += *options_.reserve;
    b.weights = exact_line(weights_ - offloaded(options_, weights_));
    b.kv_pool = left_after(exact_line(b.memory), {b.non_torch, b.reserved, b.weights});
    return with_pool(b, options_);
  }

  Capacity capacity(Bytes pool, Tokens max_model_len) const override {
    Capacity c;
    Held least = held_by(pool, ranks_.front(), serving_);
    for (const Rank& rank : ranks_) {
      const Held held = held_by(pool, rank, serving_);
      least.tokens = std::min(least.tokens, held.tokens);
      least.window_tokens = std::min(least.window_tokens, held.window_tokens);
      if (held.requests)
        least.requests = std::min(least.requests.value_or(*held.requests), *held.requests);
    }
    c.block_tokens = serving_.page;
    c.blocks = least.tokens / serving_.page;
    c.kv_tokens = least.tokens;
    if (max_model_len.n < 1) return c;
    double requests = static_cast<double>(least.tokens) / static_cast<double>(max_model_len.n);
    if (least.requests) requests = std::min(requests, static_cast<double>(*least.requests));
    c.max_concurrency = requests * static_cast<double>(serving_.attention_dp);
    const bool refused = least.requests == 0 || !holds_window(least);
    const std::int64_t longest = std::min(least.tokens, max_model_len.n);
    if (!refused && longest > 0) c.max_context = Tokens(longest);
    return c;
  }

  Bytes reserved(Tokens context, std::int64_t batch) const override {
    return fullest(ranks_, [&](const Rank& rank) { return held(rank, context, batch); });
  }

  Bytes reserved_total(Tokens context, std::int64_t batch) const override {
    return over_stages(ranks_, [&](const Rank& rank) { return held(rank, context, batch); }) *
           parallel_.tp;
  }

 private:
  Bytes held(const Rank& rank, Tokens context, std::int64_t batch) const {
    return pool_for(context, ceil_div(batch, serving_.attention_dp), rank, serving_);
  }
  bool holds_window(const Held& held) const {
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
      return rank.window.n == 0 || held.window_tokens >= rank.window.n + serving_.page;
    });
  }

  EngineOptions options_;
  ModelSpec model_;
  Parallelism parallel_;
  Serving serving_;
  Bytes weights_;
  std::vector<Rank> ranks_;
};

}  // namespace

std::unique_ptr<Engine> make_sglang(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  return std::make_unique<Sglang>(options, model, deployment);
}

}  // namespace kvplan
