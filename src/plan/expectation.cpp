// SPDX-License-Identifier: Apache-2.0
#include "plan/expectation.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "cost/launches.h"
#include "engine/llamacpp/part_lines.h"

namespace kvplan {
namespace {

bool is_llamacpp(const EngineOptions& engine) {
  return engine.name == "llama.cpp" || engine.name == "ollama";
}

// q4_k, iq4_xs, tq1_0 …: data and scales in one block; or a mix of them.
bool is_ggml_block(const Format& format) {
  if (format.mean_millibits > 0) return true;
  const auto name = format.name;
  return format.block_elements >= 32 &&
         (name.starts_with('q') || name.starts_with("iq") || name.starts_with("tq"));
}

// Steps of layers that several GPUs share took so much longer than on one: median, and quantiles
// around 80 % of 57 pairs on 2 to 8 GPUs of one kind (XiongjieDai/GPU-Benchmarks-on-LLM-Inference
// README, LLaMA 3, May 2024).
constexpr double kShared = 1.02, kSharedLow = 0.98, kSharedHigh = 1.09;

Expected shared(Expected e, std::int64_t gpus) {
  if (!e.time) return e;
  e.time = Estimate{e.time->value * kShared, e.time->low * kSharedLow, e.time->high * kSharedHigh,
                    e.time->coverage};
  e.rests_on += ", and what sharing layers among " + std::to_string(gpus) + " GPUs costs";
  return e;
}

// One GPU after the other, each its layers, a step takes as on one that holds them all.
Expected by_runs(const Setup& setup, const Load& load, Phase phase) {
  const Parallelism& p = setup.deployment.parallel;
  const bool shares_layers = p.gpus() > 1 && p.pp == p.gpus();
  if (p.gpus() > 1 && !(shares_layers && phase == Phase::decode))
    return {std::nullopt, "no published run of llama.cpp tells of such a split over GPUs"};
  if (load.batch > 1)
    return {std::nullopt, "published runs of llama.cpp are taken of one sequence alone"};
  Deployment whole = setup.deployment;
  whole.parallel = {};
  RunAsked asked{phase, load.context};
  if (is_llamacpp(setup.engine))
    asked.micro_batch =
        llamacpp::serving_of(setup.engine, setup.model, setup.deployment.cache).batch;
  const Launches launches = phase == Phase::decode
                                ? decode_launches(setup.model, whole, load.context, 1)
                                : prefill_launches(setup.model, whole, load.context, 1);
  Expected found = expected(launches, *setup.runs, *setup.device, asked);
  return shares_layers ? shared(std::move(found), p.gpus()) : found;
}

Launches launches_of(const Setup& setup, const Load& load, Phase phase) {
  return phase == Phase::decode
             ? decode_launches(setup.model, setup.deployment, load.context, load.batch)
             : prefill_launches(setup.model, setup.deployment, load.context, load.batch);
}

Expected chosen(const Setup& setup, const Load& load, Phase phase) {
  if (setup.profile) {
    Expected by_kernels = expected(launches_of(setup, load, phase), *setup.profile);
    if (by_kernels.time || !setup.runs) return by_kernels;
  }
  return setup.runs ? by_runs(setup, load, phase) : Expected{};
}

Expected above(std::optional<Seconds> ceiling, Expected e) {
  if (e.time && ceiling) e.time = no_faster_than(*ceiling, *e.time);
  return e;
}

}  // namespace

bool is_run_by_llamacpp(const ModelSpec& model, const EngineOptions& engine) {
  if (engine.name != "ideal") return is_llamacpp(engine);
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& layer) {
    return std::any_of(layer.weights.begin(), layer.weights.end(),
                       [](const Weight& w) { return w.is_matrix && is_ggml_block(*w.format); });
  });
}

Expected expected_step(const Setup& setup, const Load& load, std::optional<Seconds> ceiling) {
  return above(ceiling, chosen(setup, load, Phase::decode));
}

Expected expected_prompt(const Setup& setup, const Load& load, std::optional<Seconds> ceiling) {
  return above(ceiling, chosen(setup, load, Phase::prefill));
}

}  // namespace kvplan
