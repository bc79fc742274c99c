// SPDX-License-Identifier: Apache-2.0
#include "plan/sizing.h"

#include <algorithm>
#include <array>

#include "search.h"

namespace kvplan {
namespace {

constexpr Tokens kUsefulContext{2048};  // the least that a plan calls "it fits"
constexpr std::int64_t kMostSequences = 1 << 20;
constexpr std::array<std::int64_t, 12> kGpuCounts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

bool holds(const Engine& engine, Bytes pool, const Load& load) {
  return pool.n > 0 && engine.reserved(load.context, load.batch) <= pool;
}

bool divides(const ModelSpec& model, const Parallelism& layout) {
  try {
    validate(model, layout);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<Tokens> largest_context(const Engine& engine, Bytes pool, std::int64_t batch,
                                      Tokens limit) {
  const auto found = largest(1, limit.n, [&](std::int64_t n) {
    return holds(engine, pool, {Tokens(n), batch});
  });
  return found ? std::optional(Tokens(*found)) : std::nullopt;
}

std::optional<std::int64_t> largest_batch(const Engine& engine, Bytes pool, Tokens context) {
  return largest(1, kMostSequences, [&](std::int64_t n) {
    return holds(engine, pool, {context, n});
  });
}

Sizing sizing(const Setup& setup, const std::optional<Load>& asked, Tokens usual, Tokens limit) {
  const auto engine = make_engine(setup.engine, setup.model, setup.deployment);
  Sizing result;
  if (!setup.engine.kv_pool) result.budget = engine->budget(setup.device.value());
  result.pool = setup.engine.kv_pool ? *setup.engine.kv_pool : result.budget->kv_pool.value;
  result.capacity =
      engine->capacity(std::max(result.pool, Bytes(0)), setup.engine.max_model_len.value_or(limit));
  result.max_context = largest_context(*engine, result.pool, 1, limit);
  result.max_batch = largest_batch(*engine, result.pool, asked ? asked->context : usual);
  result.fits =
      holds(*engine, result.pool, asked.value_or(Load{std::min(kUsefulContext, limit), 1}));
  return result;
}

std::vector<Parallelism> layouts(const ModelSpec& model, std::int64_t gpus) {
  std::vector<Parallelism> found;
  for (std::int64_t tp = gpus; tp >= 1; --tp) {
    if (gpus % tp != 0) continue;
    Parallelism layout;
    layout.tp = tp;
    layout.pp = gpus / tp;
    if (divides(model, layout)) found.push_back(layout);
  }
  return found;
}

std::optional<FewestGpus> fewest_gpus(Setup setup, const Load& load) {
  for (const std::int64_t gpus : kGpuCounts)
    for (const Parallelism& layout : layouts(setup.model, gpus)) {
      setup.deployment.parallel = layout;
      const auto engine = make_engine(setup.engine, setup.model, setup.deployment);
      if (holds(*engine, engine->budget(setup.device.value()).kv_pool.value, load))
        return FewestGpus{gpus, layout};
    }
  return std::nullopt;
}

}  // namespace kvplan
