// SPDX-License-Identifier: Apache-2.0
#include "engine/trtllm.h"

#include <algorithm>
#include <charconv>

#include "cost/rank.h"
#include "engine/budget_lines.h"
#include "engine/settings.h"
#include "engine/stages.h"
#include "engine/trtllm/pools.h"
#include "search.h"

namespace kvplan {
namespace {

using namespace trtllm;

// "128,32768": the windows of the first layers, repeated over all.
std::vector<std::int64_t> windows_in(std::string_view list) {
  constexpr const char* kKey = "kv_cache_config.max_attention_window";
  std::vector<std::int64_t> windows;
  while (!list.empty()) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), n);
    list.remove_prefix(static_cast<std::size_t>(end - list.data()));
    if (error != std::errc{} || n < 1 || (!list.empty() && list.front() != ','))
      throw Error("is not a list of tokens").of(kKey).advise("Write it as 128,32768.");
    windows.push_back(n);
    if (!list.empty()) list.remove_prefix(1);
  }
  return windows;
}

Serving serving_of(const EngineOptions& options, const Parallelism& p) {
  const Settings settings(options, site_of(options));
  Serving s;
  s.block = settings.needed_integer("kv_cache_config.tokens_per_block", 1);
  s.max_tokens = settings.integer("kv_cache_config.max_tokens", 1);
  s.windows = windows_in(settings.text("kv_cache_config.max_attention_window").value_or(""));
  // Where the layout says it already, each of its replicas is one of these ranks.
  const bool spread = settings.boolean("enable_attention_dp").value_or(false) && p.dp == 1;
  s.attention_dp = spread ? p.tp : 1;
  s.ranks = spread ? 1 : p.tp;
  return s;
}

double fraction_of(const EngineOptions& options) {
  const Settings settings(options, site_of(options));
  const auto nested = settings.number("kv_cache_config.free_gpu_memory_fraction");
  const double share = options.utilization ? *options.utilization
                       : nested            ? *nested
                                : settings.needed_number("kv_cache_free_gpu_memory_fraction");
  if (!(share > 0 && share <= 1))
    throw Error("must lie in (0, 1]").of("kv_cache_free_gpu_memory_fraction");
  return share;
}

class TrtLlm final : public Engine {
 public:
  TrtLlm(const EngineOptions& options, const ModelSpec& model, const Deployment& deployment)
      : options_(options),
        parallel_(deployment.parallel),
        serving_(serving_of(options, parallel_)),
        weights_(resident_on_fullest_gpu(model, parallel_)) {
    for (const auto& groups : groups_of_stages(model, deployment))
      stages_.push_back(pools_of(groups, serving_));
  }

  // The share is one of what is free once the model and its buffers are there.
  Budget budget(const DeviceSpec& device) const override {
    constexpr std::int64_t kTenth = kGiB / 10;
    Budget b;
    b.memory = device.memory.value;
    b.utilization = fraction_of(options_);
    b.weights = exact_line(weights_);
    b.activation =
        line_between(Bytes(5 * kTenth), Bytes(22 * kTenth), Bytes(60 * kTenth), Basis::assumed,
                     "execution context: 2.21 GiB for DeepSeek-V3 at TP8 (trtllm#2683)");
    b.non_torch = line_between(Bytes(4 * kTenth), Bytes(8 * kTenth), Bytes(16 * kTenth),
                               Basis::assumed, "driver, NCCL and runtime libraries");
    const BudgetLine kept = exact_line(options_.reserve.value_or(Bytes(0)), "--reserve");
    const BudgetLine free =
        left_after(exact_line(b.memory), {b.weights, b.activation, b.non_torch, kept});
    const auto rest = [&](Bytes bytes) {
      return Bytes(static_cast<std::int64_t>(bytes.real() * (1 - *b.utilization))) + kept.value;
    };
    b.reserved = line_between(rest(free.low), rest(free.value), rest(free.high), Basis::engine_rule,
                              "1 - kv_cache_free_gpu_memory_fraction");
    const auto pool = [&](Bytes bytes) { return bytes - rest(bytes) + kept.value; };
    b.kv_pool = line_between(pool(free.low), pool(free.value), pool(free.high), Basis::assumed,
                             "share of the free memory");
    return with_pool(b, options_);
  }

  Capacity capacity(Bytes memory, Tokens max_model_len) const override {
    Capacity c;
    const Tokens longest(std::max<std::int64_t>(max_model_len.n, 1));
    for (const auto& pools : stages_) {
      const auto blocks = blocks_of(memory, pools, serving_, longest);
      if (blocks.empty()) continue;
      const std::int64_t most = *std::max_element(blocks.begin(), blocks.end());
      c.blocks = std::min(c.blocks.value_or(most), most);
    }
    if (!c.blocks) return c;
    c.block_tokens = serving_.block;
    c.kv_tokens = checked_mul(*c.blocks, serving_.block);
    const double requests = memory.real() / reserved(longest, serving_.attention_dp).real();
    c.max_concurrency = requests * static_cast<double>(serving_.attention_dp);
    const auto most =
        largest(1, longest.n, [&](std::int64_t n) { return holds(memory, Tokens(n), longest); });
    if (most) c.max_context = Tokens(*most);
    return c;
  }

  Bytes reserved(Tokens context, std::int64_t batch) const override {
    return fullest(stages_, [&](const auto& pools) { return held(pools, context, batch); });
  }

  Bytes reserved_total(Tokens context, std::int64_t batch) const override {
    return over_stages(stages_, [&](const auto& pools) { return held(pools, context, batch); }) *
           parallel_.tp;
  }

 private:
  Bytes held(const std::vector<Pool>& pools, Tokens context, std::int64_t batch) const {
    return memory_for(context, ceil_div(batch, serving_.attention_dp), pools, serving_);
  }
  // Whether every stage's blocks hold one sequence of `n` tokens.
  bool holds(Bytes memory, Tokens n, Tokens longest) const {
    for (const auto& pools : stages_) {
      const auto blocks = blocks_of(memory, pools, serving_, longest);
      for (std::size_t i = 0; i < pools.size(); ++i) {
        const std::int64_t kept = pools[i].window ? std::min(*pools[i].window, n.n) : n.n;
        if (blocks[i] < ceil_div(kept, serving_.block)) return false;
      }
    }
    return true;
  }

  EngineOptions options_;
  Parallelism parallel_;
  Serving serving_;
  Bytes weights_;
  std::vector<std::vector<Pool>> stages_;
};

}  // namespace

std::unique_ptr<Engine> make_trtllm(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  return std::make_unique<TrtLlm>(options, model, deployment);
}

}  // namespace kvplan
