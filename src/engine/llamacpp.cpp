// SPDX-License-Identifier: Apache-2.0
#include "engine/llamacpp.h"

#include <algorithm>

#include "engine/budget_lines.h"
#include "engine/llamacpp/compute.h"
#include "engine/llamacpp/memory.h"
#include "engine/settings.h"
#include "search.h"

namespace kvplan {
namespace {

using namespace llamacpp;

std::int64_t device_count(const EngineOptions& options, const Parallelism& parallel) {
  if (Settings(options).text("split_mode") == "none") return 1;
  return checked_mul(parallel.tp, parallel.pp);
}

class LlamaCpp final : public Engine {
 public:
  LlamaCpp(const EngineOptions& options, const ModelSpec& model, const Deployment& deployment,
           Serving serving)
      : options_(options),
        model_(model),
        serving_(std::move(serving)),
        cache_(deployment.cache),
        on_gpu_(model, serving_, false),
        on_host_(model, serving_, true),
        devices_(devices_of(model, deployment.cache, serving_,
                            device_count(options, deployment.parallel))),
        largest_(not_outdone(devices_)) {}

  Budget budget(const DeviceSpec& device) const override {
    const bool on_cpu = device.kind == "cpu";
    Budget b;
    b.memory = device.memory.value;
    b.reserved = options_.reserve ? exact_line(*options_.reserve, "--reserve")
                                  : line_between(serving_.margin, serving_.margin, serving_.margin,
                                                 Basis::engine_rule, serving_.margin_source);
    b.weights =
        on_cpu ? exact_line(held_by_host(model_, cache_, serving_), "all, as the file has them")
               : exact_line(fullest(&Device::weights), "all but the token table");
    if (!on_cpu)
      b.non_torch = line_between(Bytes(200 * kMiB), Bytes(400 * kMiB), Bytes(600 * kMiB),
                                 Basis::assumed, "context of the driver and its libraries");
    const Bytes left = b.memory - b.reserved.value - b.weights.value - b.non_torch.value;
    b.activation = buffer_at(options_.max_model_len.value_or(longest_within(left, on_cpu)), on_cpu);
    b.kv_pool =
        left_after(exact_line(b.memory), {b.reserved, b.weights, b.activation, b.non_torch});
    return with_pool(b, options_);
  }

  Capacity capacity(Bytes pool, Tokens max_model_len) const override {
    Capacity c;
    const std::int64_t slots = serving_.slots.value_or(1);
    if (serving_.ctx_size) {
      const Cells cells = cells_of(serving_, Tokens(1), 1);
      if (fullest(cells) > pool) return c;
      c.kv_tokens = checked_mul(cells.cells, cells.streams);
      c.max_context = Tokens(std::min(cells.cells, max_model_len.n));
    } else {
      const auto fits = [&](std::int64_t n) { return reserved(Tokens(n), slots) <= pool; };
      if (const auto n = largest(1, std::max<std::int64_t>(max_model_len.n, 1), fits))
        c.max_context = Tokens(*n);
      const auto limit = growing() ? std::max<std::int64_t>(pool.n, 1) : 0;
      if (const auto n = largest(1, limit, fits)) c.kv_tokens = checked_mul(*n, slots);
    }
    if (c.kv_tokens && max_model_len.n > 0)
      c.max_concurrency = static_cast<double>(*c.kv_tokens) / static_cast<double>(max_model_len.n);
    return c;
  }

  Bytes reserved(Tokens context, std::int64_t batch) const override {
    return fullest(cells_of(serving_, context, batch));
  }

  Bytes reserved_total(Tokens context, std::int64_t batch) const override {
    const Cells cells = cells_of(serving_, context, batch);
    Bytes sum;
    for (const Device& device : devices_) sum += cache_bytes(device, serving_, cells);
    return sum;
  }

 private:
  BudgetLine buffer_at(Tokens context, bool on_cpu) const {
    return (on_cpu ? on_host_ : on_gpu_).at(cells_of(serving_, context, 1).cells);
  }
  // The longest sequence whose cache and compute buffer fit together: the buffer grows with the
  // cells too.
  Tokens longest_within(Bytes left, bool on_cpu) const {
    const auto fits = [&](std::int64_t n) {
      return buffer_at(Tokens(n), on_cpu).value + reserved(Tokens(n), 1) <= left;
    };
    return Tokens(largest(1, model_.max_context.value_or(Tokens(4096)).n, fits).value_or(1));
  }
  // Whether more tokens ever need more bytes.
  bool growing() const {
    return std::any_of(devices_.begin(), devices_.end(),
                       [](const Device& d) { return d.per_cell.n > 0 || !d.per_entry.empty(); });
  }
  Bytes fullest(const Cells& cells) const {
    Bytes most;
    for (const Device& device : largest_)
      most = std::max(most, cache_bytes(device, serving_, cells));
    return most;
  }
  Bytes fullest(Bytes Device::*member) const {
    Bytes most;
    for (const Device& device : devices_) most = std::max(most, device.*member);
    return most;
  }

  EngineOptions options_;
  ModelSpec model_;
  Serving serving_;
  CacheFormats cache_;
  ComputeBuffer on_gpu_, on_host_;
  std::vector<Device> devices_;
  std::vector<Device> largest_;  // that searches for what fits look at
};

}  // namespace

std::unique_ptr<Engine> make_llamacpp(const EngineOptions& options, const ModelSpec& model,
                                      const Deployment& deployment) {
  return std::make_unique<LlamaCpp>(options, model, deployment,
                                    server_of(options, model, deployment.cache));
}

std::unique_ptr<Engine> make_ollama(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  return std::make_unique<LlamaCpp>(options, model, deployment,
                                    ollama_of(options, model, deployment.cache));
}

}  // namespace kvplan
