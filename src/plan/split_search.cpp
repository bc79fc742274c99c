// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/layer_bytes.h"
#include "plan/split.h"

namespace kvplan {
namespace {

using namespace llamacpp;

constexpr double kGainOfCacheOnHost = 1.1;

bool host_is_slowest(const Machine& machine) {
  return !machine.host ||
         std::all_of(machine.gpus.begin(), machine.gpus.end(), [&](const DeviceSpec& gpu) {
           return gpu.bandwidth.value >= machine.host->bandwidth.value;
         });
}

// Splits in the order in which less and less lies on the GPUs; the fastest of those that fit wins.
// A step's time is a sum over layers, so that it is least where the host has as little as room
// allows, or where it has all that it reads faster.
class Search {
 public:
  Search(const Setup& setup, const Machine& machine, const Load& load)
      : setup_(setup),
        machine_(machine),
        load_(load),
        account_(setup.engine, setup.model, setup.deployment, machine),
        asked_(asked_split(setup.engine, setup.model, machine.gpus.size())),
        bytes_(setup, machine, account_, load),
        host_is_slowest_(host_is_slowest(machine)) {}

  SplitChoice best() {
    for (const bool on_host : {false, true}) {
      if (asked_.cache_on_host.value_or(on_host) != on_host) continue;
      // A prompt's attention then runs on the host, so that a step must gain for it.
      if (time_ && on_host) *time_ = *time_ / kGainOfCacheOnHost;
      try_layers(on_host);
      try_divisions(on_host);
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
      const std::int64_t limit = host_is_slowest_ ? fewest_on_host : all;
      const auto on_host = least_experts(split, whole_on_host, limit);
      if (!host_is_slowest_) all_experts(split);
      if (!on_host) continue;
      fewest_on_host = *on_host;
      const bool none_to_gain = !chooses_experts() || fewest_on_host <= whole_on_host;
      if (none_to_gain && host_is_slowest_) return;  // fewer only lose
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
      if (!bytes_.has_room(split)) break;
      least = m;
    }
    if (!least) return std::nullopt;
    split.cpu_moe = *least > whole ? *least : 0;
    return fits(split) ? least : std::nullopt;
  }

  // A host that reads faster than a GPU may do well to keep them all.
  void all_experts(Split split) {
    if (!chooses_experts()) return;
    split.cpu_moe = bytes_.layers();
    fits(split);
  }

  bool fits(const Split& split) {
    if (!asked_.overrides.empty() || machine_.gpus.empty()) return judged(split);
    bool any = false;
    if (const auto dealt = bytes_.dealt(split)) any = judged(*dealt);
    if (asked_.shares) return any;
    if (const auto fastest = bytes_.fastest(split, split.gpu_layers))
      any = judged(fastest->split) || any;
    return any;
  }

  // Over several GPUs a layer more on the host may let others move to a faster GPU: the best
  // division for each number of layers whose experts are on the host, the most promising judged.
  void try_divisions(bool cache_on_host) {
    constexpr std::size_t kJudged = 4;
    if (machine_.gpus.size() < 2 || asked_.shares || !asked_.overrides.empty()) return;
    std::vector<LayerBytes::Division> found;
    const std::int64_t most = chooses_experts() ? bytes_.layers() : 0;
    for (std::int64_t m = 0; m <= most; ++m) {
      Split split = start();
      split.cache_on_host = cache_on_host;
      split.cpu_moe = asked_.cpu_moe.value_or(m);
      auto division = bytes_.fastest(split, asked_.gpu_layers);
      if (!division) continue;
      const std::int64_t whole_on_host = bytes_.layers() + 1 - division->split.gpu_layers;
      if (!asked_.cpu_moe && m <= whole_on_host) division->split.cpu_moe = 0;
      found.push_back(std::move(*division));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    for (std::size_t i = 0; i < found.size() && i < kJudged; ++i) judged(found[i].split);
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
    // Where no time is known, the first one found has most on the GPUs; it stays for a gain that is
    // no more than rounding.
    constexpr double kLess = 1 - 1e-9;
    if (best_ && (!seconds || (time_ && *time_ * kLess <= *seconds))) return;
    best_ = std::move(choice);
    time_ = seconds;
  }

  const Setup& setup_;
  const Machine& machine_;
  Load load_;
  PartAccount account_;
  AskedSplit asked_;
  LayerBytes bytes_;
  bool host_is_slowest_;
  std::optional<SplitChoice> best_;
  std::optional<Seconds> time_;
};

}  // namespace

SplitChoice best_split(const Setup& setup, const Machine& machine, const Load& load) {
  return Search(setup, machine, load).best();
}

}  // namespace kvplan
