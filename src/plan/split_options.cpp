// SPDX-License-Identifier: Apache-2.0
#include "plan/split_options.h"

#include <algorithm>

#include "model/parameters.h"
#include "model/recipe.h"
#include "plan/speed.h"

namespace kvplan {
namespace {

constexpr Tokens kPrompt{4096};

struct Change {
  std::string name, how;
  Setup setup;
  Machine machine;
};

std::vector<Change> changes(const Setup& setup, const Machine& machine) {
  std::vector<Change> all;
  if (setup.deployment.cache.key->bits > 8.5) {
    all.push_back({"q8_0 KV cache", "--kv q8_0", setup, machine});
    all.back().setup.deployment.cache = cache_formats("q8_0");
  }
  if (setup.engine.name == "llama.cpp" && !setup.engine.settings.count("ubatch_size")) {
    all.push_back({"larger micro-batches", "--set ubatch_size=2048", setup, machine});
    all.back().setup.engine.settings["ubatch_size"] = "2048";
  }
  if (!machine.gpus.empty() && machine.gpus[0].memory.value.n > 0) {
    const std::string& name = machine.gpus[0].name;
    all.push_back({"one more " + name, "+" + name, setup, machine});
    all.back().machine.gpus.push_back(machine.gpus[0]);
    all.back().setup.engine.settings.erase("tensor_split");
  }
  return all;
}

double gain(const std::optional<double>& after, const std::optional<double>& before) {
  return after && before ? *after / *before : 1;
}

}  // namespace

SplitOutcome split_outcome(const Setup& setup, const Machine& machine, const Load& load) {
  const SplitChoice choice = best_split(setup, machine, load);
  const MachineModel model(setup.model, setup.deployment, machine, choice.where,
                           turn_rules(setup, machine, choice.split));
  SplitOutcome outcome{choice.fits, choice.split.gpu_layers, choice.split.cpu_moe, {}, {}};
  if (!choice.fits) return outcome;
  const Tokens prompt = std::min(kPrompt, load.context);
  if (const auto t = model.step(load.context, load.batch).in_turn)
    outcome.decode = tokens_per_second(load.batch, *t);
  if (const auto t = model.prompt(prompt, 1).in_turn)
    outcome.prefill = tokens_per_second(prompt.n, *t);
  return outcome;
}

std::vector<SplitRung> split_ladder(const Setup& setup, const Machine& machine, const Load& load,
                                    std::span<const std::string_view> recipes) {
  std::vector<SplitRung> rungs;
  for (const std::string_view recipe : recipes) {
    Setup step = setup;
    step.model = apply_recipe(setup.model, recipe);
    rungs.push_back(
        {std::string(recipe), resident_weights(step.model), split_outcome(step, machine, load)});
  }
  return rungs;
}

std::vector<SplitLever> split_levers(const Setup& setup, const Machine& machine, const Load& load) {
  constexpr double kWorthwhile = 1.1;
  const SplitOutcome now = split_outcome(setup, machine, load);
  std::vector<SplitLever> levers;
  for (const Change& change : changes(setup, machine)) {
    SplitLever lever{change.name, change.how, split_outcome(change.setup, change.machine, load)};
    lever.decode_gain = gain(lever.outcome.decode, now.decode);
    lever.prefill_gain = gain(lever.outcome.prefill, now.prefill);
    const bool fits_now = lever.outcome.fits && !now.fits;
    if (fits_now || std::max(lever.decode_gain, lever.prefill_gain) >= kWorthwhile)
      levers.push_back(std::move(lever));
  }
  std::stable_sort(levers.begin(), levers.end(), [](const SplitLever& a, const SplitLever& b) {
    return a.decode_gain * a.prefill_gain > b.decode_gain * b.prefill_gain;
  });
  return levers;
}

}  // namespace kvplan
