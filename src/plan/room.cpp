// SPDX-License-Identifier: Apache-2.0
#include "plan/room.h"

#include "search.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostSequences = 1 << 20;

}  // namespace

Room::Room(const Setup& setup)
    : engine_(make_engine(setup.engine, setup.model, setup.deployment)),
      replicas_(setup.deployment.parallel.dp) {
  if (!setup.engine.kv_pool) budget_ = engine_->budget(setup.device.value());
  pool_ = budget_ ? budget_->kv_pool.value : *setup.engine.kv_pool;
}

bool Room::holds(const Load& load) const {
  return pool_.n > 0 && engine_->reserved(load.context, ceil_div(load.batch, replicas_)) <= pool_;
}

std::optional<Tokens> Room::largest_context(std::int64_t batch, Tokens limit) const {
  const auto found = largest(1, limit.n, [&](std::int64_t n) { return holds({Tokens(n), batch}); });
  return found ? std::optional(Tokens(*found)) : std::nullopt;
}

std::optional<std::int64_t> Room::largest_batch(Tokens context) const {
  return largest(1, kMostSequences, [&](std::int64_t n) { return holds({context, n}); });
}

}  // namespace kvplan
