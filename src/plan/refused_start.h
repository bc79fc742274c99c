// SPDX-License-Identifier: Apache-2.0
// A start that was refused: the memory it had for a cache, and how long a request fits when
// something is changed.
#pragma once
#include <memory>
#include <optional>

#include "engine/start_log.h"
#include "plan/setup.h"

namespace kvplan {

bool is_llama_family(const Setup&);

class RefusedStart {
 public:
  RefusedStart(const Setup&, const StartLog&);  // both must outlive it

  const Setup& setup() const { return setup_; }
  const StartLog& log() const { return log_; }
  bool has_pool() const { return pool_.has_value(); }
  Bytes pool() const { return *pool_; }
  bool has_memory() const { return setup_.device && setup_.device->memory.value.n > 0; }
  Budget budget() const;                     // requires has_memory()
  Tokens length() const { return length_; }  // of the request that had to fit
  Bytes need() const;                        // its cache

  // llama.cpp with layers on the device: how many of them fit with the whole request; nothing where
  // the log does not say what they take, or where all fit.
  std::optional<std::int64_t> fitting_layers() const;

  // The longest request of a changed setup in `pool`, at most length().
  std::optional<Tokens> longest(const Setup&, Bytes pool) const;
  // What the change leaves for the cache: the pool moved by what the budgets differ, or by half of
  // the logged weights where memory is not known and the GPUs are doubled.
  Bytes pool_after(const Setup&) const;
  Bytes pool_on_more_gpus(const Setup&) const;

 private:
  void take_llama_pool();
  std::optional<Bytes> free_memory() const;  // before anything was loaded
  Bytes buffer_needed() const;               // for one step's temporaries

  const Setup& setup_;
  const StartLog& log_;
  std::unique_ptr<Engine> engine_;
  Tokens length_;
  std::optional<Bytes> pool_;
};

}  // namespace kvplan
