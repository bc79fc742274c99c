// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/layer_bytes.h"
#include "plan/split.h"

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

  // The fewest layers whose experts must stay on the host, the `whole` ones among them, below
  // `limit`; where the split fits it is judged. More experts on the host never need more of a GPU,
  // but for the first, which brings a buffer for copies.
  std::optional<std::int64_t> least_experts(Split split, std::int64_t whole, std::int64_t limit) {
    split.cpu_moe = asked_.cpu_moe.value_or(0);
    if (!chooses_experts()) return fits(split) ? std::optional(split.cpu_moe) : std::nullopt;
    if (whole == 0 && fits(split)) return 0;
    std::optional<std::int64_t> least;
    for (std::int64_t m = limit - 1; m >= std::max<std::int64_t>(whole, 1); --m) {
      split.cpu_moe = m;
      if (bytes_.dealt(split).empty()) break;
      least = m;
    }
    if (!least) return std::nullopt;
    split.cpu_moe = *least > whole ? *least : 0;
    return fits(split) ? least : std::nullopt;
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

}  // namespace

SplitChoice best_split(const Setup& setup, const Machine& machine, const Load& load) {
  return Search(setup, machine, load).best();
}

}  // namespace kvplan
