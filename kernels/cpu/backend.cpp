// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/backend.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/arithmetic.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/libraries.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/usage.h"
#include "kernels/overload.h"

namespace kvplan {
namespace {

// Three buffers in turn that together exceed the last-level cache 16 times leave nothing of the
// last pass; hosts report caches of hundreds of MB of which a guest gets an unknown part.
Bytes default_buffers() {
  const auto cache = local_cpu().last_level_cache;
  const std::int64_t wanted =
      std::clamp(16 * (cache ? cache->value.n : 64 * kMiB), kGiB / 2, 4 * kGiB);
  const auto available = available_memory();
  return Bytes(available ? std::min(wanted, available->n / 4) : kGiB / 2);
}

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options) : options_(options) {}

  std::string name() const override { return "cpu"; }
  DeviceSpec device() const override { return local_cpu(); }
  std::optional<Bytes> free_memory() const override { return available_memory(); }

  std::vector<std::string> missing() const override { return missing_gemm_libraries(); }

  std::optional<Bytes> buffers() override { return context().arena.bytes(); }

  std::unique_ptr<Run> prepare(const Problem& problem) override { return make(problem); }

  std::unique_ptr<Run> prepare_step(const std::vector<Problem>& problems) override {
    std::vector<std::unique_ptr<CpuRun>> parts;
    for (const Problem& problem : problems)
      if (!parts.emplace_back(make(problem))) return nullptr;
    return step_run(context(), std::move(parts));
  }

  std::optional<FlopsPerSecond> peak(Arithmetic arithmetic) override {
    const CpuContext c = context();
    return arithmetic_peak(c.team, arithmetic, c.isa);
  }

  std::optional<Hertz> clock() override {
    Team& team = context().team;
    std::vector<Hertz> clocks(static_cast<std::size_t>(team.size()));
    team.run([&](int thread) { clocks[thread] = clock_of_this_thread(); });
    return *std::min_element(clocks.begin(), clocks.end());
  }

  std::optional<Seconds> lost() override { return context().team.lost(); }

  std::optional<double> other_load() override {
    const auto before = std::exchange(usage_, usage_now());
    if (!before || !usage_) return std::nullopt;
    return other_load_between(*before, *usage_);
  }

 private:
  CpuContext context() {
    if (!team_) team_ = std::make_unique<Team>(options_.threads);
    if (!arena_)
      arena_ = std::make_unique<Arena>(*team_, options_.buffers.value_or(default_buffers()));
    return {*team_, *arena_, options_.isa.value_or(best_isa())};
  }

  std::unique_ptr<CpuRun> make(const Problem& problem) {
    const CpuContext c = context();
    return std::visit(Overload{
                          [&](const StreamShape& s) { return stream_run(c, s); },
                          [&](const GemmShape& s) { return gemm_run(c, s); },
                          [&](const DecodeAttentionShape& s) { return decode_run(c, s); },
                          [&](const LatentDecodeShape& s) { return latent_run(c, s); },
                          [&](const PrefillAttentionShape& s) { return prefill_run(c, s); },
                          [&](const LaunchShape&) { return launch_run(c); },
                      },
                      problem);
  }

  CpuOptions options_;
  std::unique_ptr<Team> team_;
  std::unique_ptr<Arena> arena_;
  std::optional<Usage> usage_ = usage_now();
};

}  // namespace

std::unique_ptr<Backend> cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace kvplan
