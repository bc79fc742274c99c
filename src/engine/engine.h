// SPDX-License-Identifier: Apache-2.0
// What a serving engine reserves, against the ideal bytes of model/cache.h. Pure: options and
// shapes in, numbers out.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/deployment.h"
#include "cost/device.h"
#include "model/spec.h"

namespace kvplan {

struct EngineFlags;

// "vllm@0.21" plus the engine's own flags. Keys are the engine's names with '-' as '_', nested ones
// with dots.
struct EngineOptions {
  std::string name = "ideal";  // canonical: ideal, vllm, sglang, trtllm, llama.cpp, ollama
  std::string version;         // empty = the newest known
  std::shared_ptr<const EngineFlags> flags;  // that it has, with their defaults; the ideal has none
  std::map<std::string, std::string> settings;
  std::optional<Tokens> max_model_len;  // --max-model-len, or the engine's own flag
  std::optional<double> utilization;    // --utilization, likewise
  std::optional<Bytes> kv_pool;         // --kv-pool: per GPU; skips the budget
  std::optional<Bytes> reserve;         // --reserve: kept free per GPU
  // vLLM chooses its batch sizes by the device, and reserves for them. Absent: a large one.
  std::optional<DeviceSpec> device;
};

// One line of a budget with the interval it is known to; exact lines have low = high = value.
struct BudgetLine {
  Bytes value, low, high;
  Basis basis = Basis::exact;
  std::string_view source;
};

// Per GPU, the smallest rank's.
struct Budget {
  Bytes memory;                       // that the engine sees
  std::optional<double> utilization;  // share it allows itself
  BudgetLine reserved;                // memory that is not for the engine
  BudgetLine weights, adapters, activation, non_torch, graph;
  BudgetLine kv_pool;  // what is left; negative when it does not fit
};

// Per GPU, the smallest rank's. Absent = the engine has no such notion.
struct Capacity {
  std::optional<std::int64_t> block_tokens;  // as the engine prints it
  std::optional<std::int64_t> blocks;
  std::optional<std::int64_t> kv_tokens;  // as the engine prints it
  std::optional<double> max_concurrency;  // requests of full length
  std::optional<Tokens> max_context;      // longest single request that fits the pool
};

struct Engine {
  virtual ~Engine() = default;
  virtual Budget budget(const DeviceSpec&) const = 0;
  virtual Capacity capacity(Bytes pool_per_gpu, Tokens max_model_len) const = 0;
  // Bytes per GPU that `batch` sequences of `context` tokens occupy, states included.
  virtual Bytes reserved(Tokens context, std::int64_t batch) const = 0;
  // As above, all GPUs of one replica together.
  virtual Bytes reserved_total(Tokens context, std::int64_t batch) const = 0;
};

// Throws Error for an unknown engine, version, flag or flag value, with the near miss as advice.
std::unique_ptr<Engine> make_engine(const EngineOptions&, const ModelSpec&, const Deployment&);

}  // namespace kvplan
