// SPDX-License-Identifier: Apache-2.0
// An engine on a device, and what its memory for the cache holds: exact inversions of what the
// engine reserves.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "plan/setup.h"

namespace kvplan {

class Room {
 public:
  // Requires a device, or EngineOptions::kv_pool.
  explicit Room(const Setup&);

  const Engine& engine() const { return *engine_; }
  const std::optional<Budget>& budget() const { return budget_; }  // absent: the pool was given
  Bytes pool() const { return pool_; }  // per GPU; negative when the weights alone are too large

  // Whether the load fits, its sequences spread evenly over data-parallel replicas, and whether the
  // engine's own settings let it in.
  bool holds(const Load&) const;
  // The largest context that `batch` sequences can each reach, not beyond `limit`. Empty: not even
  // one token.
  std::optional<Tokens> largest_context(std::int64_t batch, Tokens limit) const;
  // The most sequences of `context` tokens. Empty: not even one.
  std::optional<std::int64_t> largest_batch(Tokens context) const;

 private:
  // What settings allow of one replica, where they say anything.
  struct Allowed {
    std::optional<std::int64_t> context, sequences, tokens;  // tokens: of all sequences together
  };
  static Allowed allowed_by(const EngineOptions&, const ModelSpec&);

  std::unique_ptr<Engine> engine_;
  std::int64_t replicas_;
  Allowed allowed_;
  std::optional<Budget> budget_;
  Bytes pool_;
};

}  // namespace kvplan
