// SPDX-License-Identifier: Apache-2.0
#include "plan/split.h"

#include <algorithm>
#include <cmath>

#include "search.h"

namespace kvplan {
namespace {

using namespace llamacpp;

std::vector<std::string> names_of(const Machine& machine) {
  std::vector<std::string> names;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const auto equal =
        std::count_if(machine.gpus.begin(), machine.gpus.end(),
                      [&](const DeviceSpec& d) { return d.name == machine.gpus[g].name; });
    names.push_back(machine.gpus[g].name + (equal > 1 ? " #" + std::to_string(g) : ""));
  }
  names.push_back(machine.host ? machine.host->name : "host");
  return names;
}

std::vector<PartSummary> summaries(const Setup& setup, const Machine& machine,
                                   const Assignment& where, const std::vector<Bytes>& used) {
  std::vector<PartSummary> parts;
  const auto names = names_of(machine);
  for (std::size_t p = 0; p < machine.parts(); ++p) {
    PartSummary part{names[p], where.output == p, std::nullopt, std::nullopt, used[p]};
    part.memory = machine.memory(p);
    if (part.memory) part.left = *part.memory - used[p];
    parts.push_back(part);
  }
  for (std::size_t i = 0; i < setup.model.layers.size(); ++i)
    if (setup.model.layers[i].role == Layer::main) ++parts[where.runs(setup.model, i)].layers;
  return parts;
}

MachineRow row_of(const Machine& machine, const Load& load, bool fits, MachineTime time) {
  MachineRow row{load.context, load.batch, fits, std::move(time), {}, {}, {}, {}};
  if (row.time.in_turn) {
    row.gpu_bytes = row.host_bytes = Bytes(0);
    for (std::size_t p = 0; p < row.time.parts.size(); ++p)
      *(p == machine.host_part() ? row.host_bytes : row.gpu_bytes) +=
          row.time.parts[p].weights + row.time.parts[p].cache;
  }
  if (row.time.ceiling && row.time.bound != Bound::compute)
    row.bound_part = names_of(machine)[row.time.bound_part];
  return row;
}

// `time` of the law for each load; the first one may be traced.
template <class TimeOf>
std::vector<MachineRow> rows_of(const Setup& setup, const Machine& machine,
                                const SplitChoice& choice, std::span<const Load> loads,
                                Trace* first, TimeOf time) {
  const PartAccount account(setup.engine, setup.model, setup.deployment, machine);
  const MachineModel model(setup.model, setup.deployment, machine, choice.where,
                           turn_rules(setup, machine, choice.split));
  std::vector<MachineRow> rows;
  for (const Load& load : loads)
    rows.push_back(row_of(machine, load, account.fits(choice.where, load.context, load.batch),
                          time(model, load, rows.empty() ? first : nullptr)));
  return rows;
}

// `expected` of the time on links; no law may be faster than that of peak rates.
template <class ExpectedOf>
Expected expected_of(const MachineRow& row, ExpectedOf expected) {
  if (!row.time.in_turn) return {std::nullopt, "no rate of a part"};
  Expected e = expected(row.time.links);
  if (e.time) e.time = no_faster_than(*row.time.in_turn, *e.time);
  return e;
}

}  // namespace

TurnRules turn_rules(const Setup& setup, const Machine& machine, const Split& split) {
  const AskedSplit asked = asked_split(setup.engine, setup.model, machine.gpus.size());
  TurnRules rules;
  rules.pass_tokens = serving_of(setup.engine, setup.model, setup.deployment.cache).batch;
  if (!asked.copies_to_gpu) rules.copies_from.reset();
  rules.copies_used_experts = asked.copies_used_experts;
  rules.overlaps_passes = machine.gpus.size() > 1 && split.cpu_moe == 0 &&
                          split.overrides.empty() && !split.cache_on_host &&
                          split.gpu_layers >= countable_layers(setup.model);
  return rules;
}

EngineOptions with_split(EngineOptions options, const Split& split, std::size_t gpus) {
  const auto set = [&](const char* key, const std::string& text) {
    options.settings.try_emplace(key, text);
  };
  if (options.name == "ollama") {
    set("num_gpu", std::to_string(split.gpu_layers));
    return options;
  }
  set("n_gpu_layers", std::to_string(split.gpu_layers));
  if (split.cpu_moe > 0 && !options.settings.count("cpu_moe"))
    set("n_cpu_moe", std::to_string(split.cpu_moe));
  if (split.cache_on_host) set("no_kv_offload", "true");
  if (gpus > 1 && !split.shares.empty() && options.settings.count("split_mode") == 0) {
    std::string shares;
    for (const double share : split.shares)
      shares += (shares.empty() ? "" : ",") + std::to_string(std::llround(share));
    set("tensor_split", shares);
  }
  return options;
}

SplitAnswer split_answer(const Setup& setup, const Machine& machine, const Load& load,
                         Tokens limit) {
  SplitAnswer answer;
  answer.choice = best_split(setup, machine, load);
  answer.countable = countable_layers(setup.model);
  const PartAccount account(setup.engine, setup.model, setup.deployment, machine);
  const Assignment& where = answer.choice.where;
  answer.parts = summaries(setup, machine, where, account.used(where, load.context, load.batch));
  for (const PartLine& line : account.lines(where, load.context, load.batch))
    answer.lines.push_back({answer.parts[line.part].name, line});
  const auto n = largest(
      1, limit.n, [&](std::int64_t context) { return account.fits(where, Tokens(context), 1); });
  if (n) answer.max_context = Tokens(*n);
  return answer;
}

std::vector<MachineRow> machine_decode(const Setup& setup, const Machine& machine,
                                       const SplitChoice& choice, std::span<const Load> loads,
                                       Trace* first) {
  auto rows = rows_of(setup, machine, choice, loads, first,
                      [](const MachineModel& m, const Load& load, Trace* trace) {
                        return m.step(load.context, load.batch, trace);
                      });
  for (MachineRow& row : rows)
    row.expected = expected_of(row, [&](Seconds links) {
      return step_expected(setup.model, setup.deployment, machine, choice.where, row.context,
                           row.batch, links);
    });
  return rows;
}

std::vector<MachineRow> machine_prefill(const Setup& setup, const Machine& machine,
                                        const SplitChoice& choice, std::span<const Load> loads,
                                        Trace* first) {
  auto rows = rows_of(setup, machine, choice, loads, first,
                      [](const MachineModel& m, const Load& load, Trace* trace) {
                        return m.prompt(load.context, load.batch, trace);
                      });
  const TurnRules rules = turn_rules(setup, machine, choice.split);
  for (MachineRow& row : rows)
    row.expected = expected_of(row, [&](Seconds links) {
      return prompt_expected(setup.model, setup.deployment, machine, choice.where, rules,
                             row.context, row.batch, links);
    });
  return rows;
}

std::vector<NamedPortion> machine_breakdown(const Setup& setup, const Machine& machine,
                                            const SplitChoice& choice, const Load& load,
                                            bool prompt) {
  const auto names = names_of(machine);
  std::vector<NamedPortion> named;
  const auto of = prompt ? prompt_portions : step_portions;
  for (const PartPortion& p :
       of(setup.model, setup.deployment, machine, choice.where, load.context, load.batch))
    named.push_back({p.portion, names[p.part]});
  return named;
}

}  // namespace kvplan
