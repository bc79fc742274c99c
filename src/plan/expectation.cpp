// SPDX-License-Identifier: Apache-2.0
#include "plan/expectation.h"

#include <algorithm>

#include "cost/launches.h"
#include "engine/llamacpp/part_lines.h"

namespace kvplan {
namespace {

bool is_llamacpp(const EngineOptions& engine) {
  return engine.name == "llama.cpp" || engine.name == "ollama";
}

// q4_k, iq4_xs, tq1_0 …: data and scales in one block.
bool is_ggml_block(const Format& format) {
  const auto name = format.name;
  return format.block_elements >= 32 &&
         (name.starts_with('q') || name.starts_with("iq") || name.starts_with("tq"));
}

Expected by_runs(const Setup& setup, const Launches& launches, const Load& load, Phase phase) {
  if (setup.deployment.parallel.gpus() > 1)
    return {std::nullopt, "published runs of llama.cpp are taken of one GPU alone"};
  if (load.batch > 1)
    return {std::nullopt, "published runs of llama.cpp are taken of one sequence alone"};
  RunAsked asked{phase, load.context};
  if (is_llamacpp(setup.engine))
    asked.micro_batch =
        llamacpp::serving_of(setup.engine, setup.model, setup.deployment.cache).batch;
  return expected(launches, *setup.runs, *setup.device, asked);
}

Expected chosen(const Setup& setup, const Launches& launches, const Load& load, Phase phase) {
  if (setup.profile) {
    Expected by_kernels = expected(launches, *setup.profile);
    if (by_kernels.time || !setup.runs) return by_kernels;
  }
  return by_runs(setup, launches, load, phase);
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
  if (!setup.profile && !setup.runs) return {};
  return above(
      ceiling,
      chosen(setup, decode_launches(setup.model, setup.deployment, load.context, load.batch), load,
             Phase::decode));
}

Expected expected_prompt(const Setup& setup, const Load& load, std::optional<Seconds> ceiling) {
  if (!setup.profile && !setup.runs) return {};
  return above(
      ceiling,
      chosen(setup, prefill_launches(setup.model, setup.deployment, load.context, load.batch), load,
             Phase::prefill));
}

}  // namespace kvplan
