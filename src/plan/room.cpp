// SPDX-License-Identifier: Apache-2.0
#include "plan/room.h"

#include <algorithm>

#include "engine/settings.h"
#include "plan/solve.h"
#include "search.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostSequences = 1 << 20;

}  // namespace

Room::Room(const Setup& setup)
    : engine_(make_engine(setup.engine, setup.model, setup.deployment)),
      replicas_(setup.deployment.parallel.dp),
      allowed_(allowed_by(setup.engine, setup.model)) {
  if (!setup.engine.kv_pool) budget_ = engine_->budget(setup.device.value());
  if (budget_ && setup.model.average) budget_->weights.basis = Basis::assumed;
  pool_ = budget_ ? budget_->kv_pool.value : *setup.engine.kv_pool;
}

// llama.cpp divides ctx_size among its slots where their number is given; else they share it.
Room::Allowed Room::allowed_by(const EngineOptions& options, const ModelSpec& model) {
  const Settings settings(options);
  Allowed allowed;
  if (options.max_model_len) allowed.context = options.max_model_len->n;
  if (const auto flag = sequences_flag(options.name); !flag.empty())
    allowed.sequences = settings.integer(flag);
  auto cells = options.name == "llama.cpp" ? settings.integer("ctx_size") : std::nullopt;
  if (cells == 0) cells = model.max_context.value_or(Tokens(4096)).n;  // the model's own
  if (!cells || *cells < 0) return allowed;
  constexpr std::int64_t kPadding = 256;
  if (allowed.sequences && !settings.boolean("kv_unified").value_or(false))
    allowed.context = round_up(*cells / std::max<std::int64_t>(1, *allowed.sequences), kPadding);
  else
    allowed.tokens = round_up(*cells, kPadding);
  return allowed;
}

bool Room::holds(const Load& load) const {
  const std::int64_t batch = ceil_div(load.batch, replicas_);
  if (allowed_.context && load.context.n > *allowed_.context) return false;
  if (allowed_.sequences && batch > *allowed_.sequences) return false;
  if (allowed_.tokens && checked_mul(load.context.n, batch) > *allowed_.tokens) return false;
  return pool_.n > 0 && engine_->reserved(load.context, batch) <= pool_;
}

std::optional<Tokens> Room::largest_context(std::int64_t batch, Tokens limit) const {
  const auto found = largest(1, limit.n, [&](std::int64_t n) { return holds({Tokens(n), batch}); });
  return found ? std::optional(Tokens(*found)) : std::nullopt;
}

std::optional<std::int64_t> Room::largest_batch(Tokens context) const {
  return largest(1, kMostSequences, [&](std::int64_t n) { return holds({context, n}); });
}

}  // namespace kvplan
