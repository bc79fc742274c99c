// SPDX-License-Identifier: Apache-2.0
#include "plan/refused_start.h"

#include <algorithm>

#include "engine/settings.h"
#include "plan/check.h"
#include "search.h"

namespace kvplan {
namespace {

std::unique_ptr<Engine> made(const Setup& s) {
  return make_engine(s.engine, s.model, s.deployment);
}

const char* context_flag(const Setup& s) {
  return s.engine.name == "ollama" ? "num_ctx" : "ctx_size";
}

// The same start with another context; where a flag sets it, the flag changes.
Setup at_length(Setup s, Tokens n) {
  if (s.engine.settings.count(context_flag(s)))
    s.engine.settings[context_flag(s)] = std::to_string(n.n);
  return s;
}

}  // namespace

bool is_llama_family(const Setup& s) {
  return s.engine.name == "llama.cpp" || s.engine.name == "ollama";
}

RefusedStart::RefusedStart(const Setup& setup, const StartLog& log)
    : setup_(setup), log_(log), engine_(made(setup)) {
  length_ = setup.engine.max_model_len.value_or(setup.model.max_context.value_or(Tokens(32768)));
  if (is_llama_family(setup)) {
    take_llama_pool();
    return;
  }
  for (const Refusal& r : log.refusals)
    if (r.cause == Refusal::request_too_long && r.available) pool_ = r.available->low();
  const auto known = pool_of(setup, *engine_, log);
  if (!pool_ && known && known->from != "the predicted budget") pool_ = known->value;
  if (!pool_ && has_memory()) pool_ = budget().kv_pool.value;
}

std::optional<Bytes> RefusedStart::free_memory() const {
  if (log_.free_memory) return log_.free_memory->least;
  if (has_memory()) return setup_.device->memory.value;
  return std::nullopt;
}

Bytes RefusedStart::buffer_needed() const {
  if (const auto printed = fullest(log_.compute_buffers)) return printed->least;
  const Refusal& last = log_.refusals.back();
  if (last.needed && last.text.find("compute") != std::string::npos) return last.needed->least;
  return engine_->budget(setup_.device.value_or(DeviceSpec{})).activation.value;
}

// What the weights and the compute buffer leave of what was free. Where only a part of the cache
// lies on the device, so much more of the whole fits.
void RefusedStart::take_llama_pool() {
  const auto set = Settings(setup_.engine).integer(context_flag(setup_));
  if (set && *set > 0) length_ = Tokens(*set);
  const Bytes weights = engine_->budget(setup_.device.value_or(DeviceSpec{})).weights.value;
  const auto held = fullest(log_.weight_buffers), cache = fullest(log_.cache_buffers);
  const auto free = free_memory();
  if (!free || (!held && weights.n == 0)) return;
  pool_ = *free - (held ? held->least : weights) - buffer_needed();
  if (!cache || log_.cache_buffers.size() < 2 || cache->least.n <= 0) return;
  Bytes whole;
  for (const auto& [device, printed] : log_.cache_buffers) whole += printed.least;
  pool_ = Bytes(static_cast<std::int64_t>(pool_->real() * (whole.real() / cache->least.real())));
}

std::optional<std::int64_t> RefusedStart::fitting_layers() const {
  const auto held = fullest(log_.weight_buffers), cache = fullest(log_.cache_buffers);
  const auto free = free_memory();
  if (!held || !free || !log_.offloaded_layers || *log_.offloaded_layers < 1) return std::nullopt;
  const double on_device = held->least.real() + (cache ? cache->least : need()).real();
  const double room = (*free - buffer_needed()).real();
  const auto layers = static_cast<double>(*log_.offloaded_layers);
  const double fitting = layers * room / on_device;
  if (fitting >= layers || fitting < 1) return std::nullopt;
  return static_cast<std::int64_t>(fitting);
}

Budget RefusedStart::budget() const { return engine_->budget(setup_.device.value()); }

Bytes RefusedStart::need() const { return engine_->reserved(length_, 1); }

std::optional<Tokens> RefusedStart::longest(const Setup& setup, Bytes pool) const {
  if (pool.n <= 0) return std::nullopt;
  if (setup.engine.name == "vllm") return made(setup)->capacity(pool, length_).max_context;
  const std::int64_t kStep = is_llama_family(setup) ? 256 : 1;  // contexts are padded to it
  const auto steps = largest(1, std::max<std::int64_t>(length_.n / kStep, 1), [&](std::int64_t n) {
    const Tokens tokens(n * kStep);
    return made(at_length(setup, tokens))->reserved(tokens, 1) <= pool;
  });
  if (!steps) return std::nullopt;
  return Tokens(std::min(*steps * kStep, length_.n));
}

Bytes RefusedStart::pool_after(const Setup& changed) const {
  if (!has_memory()) return pool();
  const Bytes then = made(changed)->budget(*changed.device).kv_pool.value;
  return pool() + (then - budget().kv_pool.value);
}

Bytes RefusedStart::pool_on_more_gpus(const Setup& changed) const {
  if (!is_llama_family(setup_) && has_memory()) return pool_after(changed);
  auto held = is_llama_family(setup_) ? fullest(log_.weight_buffers) : log_.weights;
  return held ? pool() + Bytes(held->least.n / 2) : pool();
}

}  // namespace kvplan
