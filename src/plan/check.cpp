// SPDX-License-Identifier: Apache-2.0
#include "plan/check.h"

#include <algorithm>

#include "engine/settings.h"
#include "plan/check_compare.h"

namespace kvplan {
namespace {

double real(const Amount& a) {
  return std::visit(
      [](auto x) {
        if constexpr (std::is_same_v<decltype(x), double>)
          return x;
        else if constexpr (std::is_same_v<decltype(x), std::int64_t>)
          return static_cast<double>(x);
        else
          return x.real();
      },
      a);
}

bool is_llama(const Setup& setup) {
  return setup.engine.name == "llama.cpp" || setup.engine.name == "ollama";
}

Prediction<Bytes> prediction(const BudgetLine& line) { return {line.low, line.value, line.high}; }

class BudgetLines {
 public:
  template <class T>
  void add(const char* what, const std::optional<Printed<T>>& printed, const BudgetLine& line,
           const char* if_different) {
    if (!printed) return;
    lines.push_back(compared(what, *printed, std::optional(prediction(line)), ""));
    if (lines.back().verdict == CheckLine::differs) lines.back().reason = if_different;
  }
  std::vector<CheckLine> lines;
};

// Whether the parts that were printed add up to the printed rest: then nothing is left to explain.
bool adds_up(const StartLog& log) {
  if (log.consumed && log.device_memory && log.utilization && log.activation && log.pool) {
    const double left = log.device_memory->least.real() * log.utilization->least -
                        log.consumed->most.real() - log.activation->most.real();
    return std::abs(left - log.pool->least.real()) < 0.03 * static_cast<double>(kGiB);
  }
  if (!log.device_memory || !log.utilization || !log.weights || !log.activation || !log.non_torch ||
      !log.pool)
    return false;
  const double rest = log.device_memory->least.real() * log.utilization->least -
                      log.weights->most.real() - log.activation->most.real() -
                      log.non_torch->most.real();
  return std::abs(rest - log.pool->least.real()) < 0.03 * static_cast<double>(kGiB);
}

std::vector<Missing> missing_of(const Setup& setup, const StartLog& log) {
  std::vector<Missing> missing;
  if (!setup.device) missing.push_back({"the GPU's memory", "DEVICE, as in h100-sxm"});
  const bool versions = setup.engine.name == "vllm" || setup.engine.name == "llama.cpp";
  if (versions && log.version.empty() && setup.engine.version == log.version_hint)
    missing.push_back({"the engine's version", "--engine " + setup.engine.name + "@VERSION"});
  if (!pool_of(setup, *make_engine(setup.engine, setup.model, setup.deployment), log) &&
      !is_llama(setup))
    missing.push_back({"the memory for the cache", "--kv-pool SIZE"});
  const Settings settings(setup.engine);
  if (is_llama(setup) && !settings.text("ctx_size") && !settings.text("num_ctx") &&
      !setup.engine.max_model_len)
    missing.push_back({"the context", "--set ctx_size=N"});
  return missing;
}

}  // namespace

std::optional<Printed<Bytes>> fullest(const std::map<std::string, Printed<Bytes>>& buffers) {
  const auto is_host = [](std::string_view device) {
    return device.starts_with("CPU") || device.ends_with("_Host") || device == "Host";
  };
  std::optional<Printed<Bytes>> most;
  for (const auto& [device, printed] : buffers)
    if (!is_host(device) && (!most || printed.least > most->least)) most = printed;
  return most;
}

std::optional<double> CheckLine::difference() const {
  if (!predicted) return std::nullopt;
  return real(*predicted) - real(logged);
}

bool Check::agrees() const {
  return std::none_of(lines.begin(), lines.end(),
                      [](const CheckLine& l) { return l.verdict == CheckLine::differs; });
}

std::vector<CheckLine> budget_lines(const Setup& setup, const StartLog& log) {
  BudgetLines all;
  if (!setup.device && !is_llama(setup)) return {};
  const auto engine = make_engine(setup.engine, setup.model, setup.deployment);
  const Budget b = engine->budget(setup.device.value_or(DeviceSpec{}));
  const auto both = [](const BudgetLine& a, const BudgetLine& c) {
    BudgetLine sum = a;
    sum.low += c.low, sum.value += c.value, sum.high += c.high;
    return sum;
  };
  const BudgetLine loaded = both(b.weights, b.adapters);  // printed as one
  const bool weighed = !setup.model.layers.empty() && b.weights.value.n > 0;
  if (is_llama(setup)) {
    const bool whole = !log.offloaded_layers || log.offloaded_layers == log.all_layers;
    if (weighed && whole)
      all.add(kWeightBuffer.data(), fullest(log.weight_buffers), b.weights,
              "another file type (--weights), or layers split unevenly (--tensor-split)");
    if (setup.engine.name == "llama.cpp")  // the rule is not that of ollama's own runner
      all.add("compute buffer", fullest(log.compute_buffers), b.activation,
              "this graph keeps more than logits and hidden rows; the rule holds to 15 %");
    return all.lines;
  }
  if (weighed && setup.engine.name == "sglang") {
    // What loading takes from the free memory: 0.11 GiB more than the weights in sglang#18263.
    BudgetLine loading = b.weights;
    loading.high += Bytes(kGiB / 2);
    all.add("weights, as memory that loading takes", log.weights, loading,
            "the checkpoint has other formats (--weights), or a draft beside it");
  } else if (weighed) {
    // Memory taken while loading, a few MiB of buffers included: 11 in a public start of 0.31.
    BudgetLine loading = loaded;
    loading.high += Bytes(32 * kMiB);
    all.add("weights", log.weights, loading,
            "the checkpoint has other formats (--weights), or a draft beside it");
  }
  // Newer builds print weights and non-torch as one amount, and activations with the graphs.
  if (weighed)
    all.add("weights and outside PyTorch", log.consumed, both(loaded, b.non_torch),
            "the checkpoint has other formats (--weights), or other programs use the GPU");
  all.add(log.consumed ? "activation peak and graphs" : "activation peak", log.activation,
          log.consumed ? both(b.activation, b.graph) : b.activation,
          "vision encoder, adapters or another sampler than the rule was fitted to");
  all.add("outside PyTorch", log.non_torch, b.non_torch,
          "other processes on the GPU and collectives count here");
  all.add("CUDA graphs, estimated", log.graph_estimate, b.graph,
          "follows the number of captured sizes");
  if (!setup.engine.kv_pool)
    all.add("memory for the cache", log.pool, b.kv_pool,
            adds_up(log) ? "what the lines above leave, as printed"
                         : "what the lines above leave; the ones not printed must explain it");
  return all.lines;
}

Check check(const Setup& setup, const StartLog& log) {
  Check result;
  result.lines = budget_lines(setup, log);
  for (CheckLine& line : result.lines)
    if (line.verdict == CheckLine::differs && line.what.starts_with("activation")) {
      const std::string sizes = sizes_of(setup, log, line.what);
      if (!sizes.empty()) line.reason = sizes;
    }
  std::vector<CheckLine> cache = cache_lines(setup, log);
  const bool apart = std::any_of(cache.begin(), cache.end(), [](const CheckLine& l) {
    return l.verdict == CheckLine::differs;
  });
  if (apart) {
    const std::string cause = cause_of(setup, log);
    for (CheckLine& line : cache)
      if (line.verdict == CheckLine::differs)
        line.reason = cause.empty() ? "no single input that kv-plan knows explains it" : cause;
  }
  result.lines.insert(result.lines.end(), cache.begin(), cache.end());
  result.missing = missing_of(setup, log);
  return result;
}

}  // namespace kvplan
