// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/backend.h"

#include <algorithm>

#include "kernels/cpu/device.h"
#include "kernels/cpu/runs.h"

namespace kvplan {
namespace {

template <class... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overload(Visitors...) -> Overload<Visitors...>;

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

  std::unique_ptr<Run> prepare(const Problem& problem) override {
    if (!team_) team_ = std::make_unique<Team>(options_.threads);
    if (!arena_)
      arena_ = std::make_unique<Arena>(*team_, options_.buffers.value_or(default_buffers()));
    const CpuContext context{*team_, *arena_, options_.isa.value_or(best_isa())};
    return std::visit(Overload{
                          [&](const StreamShape& s) { return stream_run(context, s); },
                          [&](const GemmShape& s) { return gemm_run(context, s); },
                          [&](const DecodeAttentionShape& s) { return decode_run(context, s); },
                          [&](const LatentDecodeShape& s) { return latent_run(context, s); },
                          [&](const PrefillAttentionShape& s) { return prefill_run(context, s); },
                          [&](const LaunchShape&) { return launch_run(context); },
                      },
                      problem);
  }

 private:
  CpuOptions options_;
  std::unique_ptr<Team> team_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace

std::unique_ptr<Backend> cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace kvplan
