// SPDX-License-Identifier: Apache-2.0
#include "plan/split.h"

#include <algorithm>
#include <cmath>

#include "engine/llamacpp/rules.h"
#include "plan/split_search.h"
#include "search.h"

namespace kvplan {
namespace {

using namespace llamacpp;

constexpr double kGainOfCacheOnHost = 1.1;

// Splits in the order in which less and less lies on the GPUs; the fastest of those that fit wins.
class Search {
 public:
  Search(const Setup& setup, const Machine& machine, const Load& load)
      : setup_(setup),
        machine_(machine),
        load_(load),
        account_(setup.engine, setup.model, setup.deployment, machine),
        asked_(asked_split(setup.engine, setup.model, machine.gpus.size())),
        bytes_(setup, machine, account_, load) {}

  SplitChoice best() {
    for (const bool on_host : {false, true}) {
      if (asked_.cache_on_host.value_or(on_host) != on_host) continue;
      // A prompt's attention then runs on the host, so that a step must gain for it.
      if (time_ && on_host) *time_ = *time_ / kGainOfCacheOnHost;
      try_layers(on_host);
    }
    if (best_) return *best_;
    Split split = start();
    split.gpu_layers = asked_.gpu_layers.value_or(0);
    split.cpu_moe = asked_.cpu_moe.value_or(0);
    split.cache_on_host = asked_.cache_on_host.value_or(false);
    return {split, account_.assigned(split), false};
  }

 private:
  Split start() const {
    Split split;
    split.overrides = asked_.overrides;
    split.output_first = asked_.output_first;
    if (asked_.shares) split.shares = *asked_.shares;
    return split;
  }

  bool chooses_experts() const {
    return bytes_.has_experts() && !asked_.cpu_moe && asked_.overrides.empty();
  }

  void try_layers(bool cache_on_host) {
    const std::int64_t all = machine_.gpus.empty() ? 0 : countable_layers(setup_.model);
    std::int64_t fewest_on_host = all;  // layers of experts, of the splits tried so far
    for (std::int64_t n = asked_.gpu_layers.value_or(all); n >= asked_.gpu_layers.value_or(0);
         --n) {
      Split split = start();
      split.gpu_layers = n;
      split.cache_on_host = cache_on_host;
      const std::int64_t whole_on_host =
          std::clamp<std::int64_t>(all - 1 + split.output_first - n, 0, bytes_.layers());
      if (const auto on_host = least_experts(split, whole_on_host, fewest_on_host))
        fewest_on_host = *on_host;
      else
        continue;
      if (!chooses_experts() || fewest_on_host <= whole_on_host) return;  // fewer only lose
    }
  }

  // The fewest layers whose experts must stay on the host beside the `whole` ones, below `limit`;
  // where it fits it is judged.
  std::optional<std::int64_t> least_experts(Split split, std::int64_t whole, std::int64_t limit) {
    const bool free = chooses_experts();
    const std::int64_t first = asked_.cpu_moe.value_or(0);
    for (std::int64_t m = std::max(first, free ? whole : first); m < std::max(limit, first + 1);
         ++m) {
      split.cpu_moe = m > whole || asked_.cpu_moe ? m : 0;
      if (fits(split)) return m;
      if (!free) break;
    }
    return std::nullopt;
  }

  bool fits(const Split& split) {
    if (!asked_.overrides.empty() || machine_.gpus.empty()) return judged(split);
    bool any = false;
    for (const auto& counts : bytes_.dealt(split)) {
      Split dealt = split;
      if (machine_.gpus.size() > 1 && !asked_.shares)
        dealt.shares.assign(counts.begin(), counts.end());
      any = judged(dealt) || any;
    }
    return any;
  }

  // By the whole account, the host's memory included.
  bool judged(const Split& split) {
    SplitChoice choice{split, account_.assigned(split), true};
    if (!account_.fits(choice.where, load_.context, load_.batch)) return false;
    judge(std::move(choice));
    return true;
  }

  void judge(SplitChoice choice) {
    const MachineModel model(setup_.model, setup_.deployment, machine_, choice.where,
                             turn_rules(setup_, machine_, choice.split));
    const auto seconds = model.step(load_.context, load_.batch).in_turn;
    // Where no time is known, the first one found has most on the GPUs.
    if (best_ && (!seconds || (time_ && *time_ <= *seconds))) return;
    best_ = std::move(choice);
    time_ = seconds;
  }

  const Setup& setup_;
  const Machine& machine_;
  Load load_;
  PartAccount account_;
  AskedSplit asked_;
  LayerBytes bytes_;
  std::optional<SplitChoice> best_;
  std::optional<Seconds> time_;
};

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

template <class Time>
std::vector<MachineRow> rows_of(const Setup& setup, const Machine& machine,
                                const SplitChoice& choice, std::span<const Load> loads, Time time) {
  const PartAccount account(setup.engine, setup.model, setup.deployment, machine);
  const MachineModel model(setup.model, setup.deployment, machine, choice.where,
                           turn_rules(setup, machine, choice.split));
  const auto names = names_of(machine);
  std::vector<MachineRow> rows;
  for (const Load& load : loads) {
    MachineRow row{load.context,
                   load.batch,
                   account.fits(choice.where, load.context, load.batch),
                   time(model, load),
                   {},
                   {},
                   {}};
    if (row.time.in_turn) {
      row.gpu_bytes = row.host_bytes = Bytes(0);
      for (std::size_t p = 0; p < row.time.parts.size(); ++p)
        *(p == machine.host_part() ? row.host_bytes : row.gpu_bytes) +=
            row.time.parts[p].weights + row.time.parts[p].cache;
    }
    if (row.time.ceiling && row.time.bound != Bound::compute)
      row.bound_part = names[row.time.bound_part];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

SplitChoice best_split(const Setup& setup, const Machine& machine, const Load& load) {
  return Search(setup, machine, load).best();
}

TurnRules turn_rules(const Setup& setup, const Machine& machine, const Split& split) {
  const PartAccount account(setup.engine, setup.model, setup.deployment, machine);
  const AskedSplit asked = asked_split(setup.engine, setup.model, machine.gpus.size());
  TurnRules rules;
  rules.pass_tokens = account.serving().batch;
  if (!asked.copies_to_gpu) rules.copies_from.reset();
  rules.copies_used_experts = asked.copies_used_experts;
  rules.overlaps_passes = machine.gpus.size() > 1 && split.cpu_moe == 0 &&
                          split.overrides.empty() && !split.cache_on_host &&
                          split.gpu_layers >= countable_layers(setup.model);
  return rules;
}

EngineOptions with_split(EngineOptions options, const Split& split, std::size_t gpus) {
  const auto set = [&](const char* key, std::string text) {
    options.settings.try_emplace(key, std::move(text));
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
                                       const SplitChoice& choice, std::span<const Load> loads) {
  return rows_of(setup, machine, choice, loads, [](const MachineModel& m, const Load& load) {
    return m.step(load.context, load.batch);
  });
}

std::vector<MachineRow> machine_prefill(const Setup& setup, const Machine& machine,
                                        const SplitChoice& choice, std::span<const Load> loads) {
  return rows_of(setup, machine, choice, loads, [](const MachineModel& m, const Load& load) {
    return m.prompt(load.context, load.batch);
  });
}

}  // namespace kvplan
