// SPDX-License-Identifier: Apache-2.0
// The cache that a logged pool gives, against the logged one.
#include <algorithm>
#include <cmath>

#include "engine/settings.h"
#include "plan/check_compare.h"

namespace kvplan {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 60;
// SGLang takes some more between loading and sizing: 0.16 GiB in a public start of Qwen3.8-27B.
constexpr Bytes kTakenBeforeSizing{kGiB / 4};
// A window's pool has a tenth of the tokens or more: its page of padding is at most ten such
// shares.
constexpr std::int64_t kWindowPadding = 10;

Tokens length_of(const Setup& setup) {
  return setup.engine.max_model_len.value_or(setup.model.max_context.value_or(Tokens(32768)));
}

Bytes clamped(Bytes b) { return std::max(b, Bytes(0)); }

// Bytes of a block, from how many a huge pool has; absent where the engine has no blocks.
std::optional<Bytes> block_bytes(const Engine& engine, Tokens length) {
  const auto blocks = engine.capacity(Bytes(kHuge), length).blocks;
  if (!blocks || *blocks < 1) return std::nullopt;
  return Bytes(kHuge / *blocks);
}

Pool between(const Printed<Bytes>& p, std::string from) {
  return {clamped(p.least - p.half), clamped(p.least), clamped(p.least + p.half), std::move(from)};
}

// SGLang: what is free after loading, less the share that stays free. TensorRT-LLM: a share of it.
std::optional<Pool> from_free_memory(const Setup& setup, const Engine& engine,
                                     const StartLog& log) {
  std::optional<double> share = setup.engine.utilization;
  if (!share && log.utilization) share = log.utilization->least;
  if (!share && setup.device) share = engine.budget(*setup.device).utilization;
  if (!share && setup.engine.name == "trtllm") share = 0.9;
  if (!log.free_after || !share) return std::nullopt;
  const auto scaled = [](Bytes b, double x) {
    return Bytes(static_cast<std::int64_t>(b.real() * x));
  };
  const Printed<Bytes>& after = *log.free_after;
  if (setup.engine.name == "trtllm")
    return Pool{clamped(scaled(after.low(), *share)), scaled(after.least, *share),
                scaled(after.high(), *share), "the logged free memory"};
  if (!log.free_before) return std::nullopt;
  const Printed<Bytes>& before = *log.free_before;
  const double kept = 1 - *share;
  return Pool{clamped(after.low() - scaled(before.high(), kept) - kTakenBeforeSizing),
              clamped(after.least - scaled(before.least, kept)),
              clamped(after.high() - scaled(before.low(), kept)),
              "the logged memory before and after loading"};
}

template <class T>
std::optional<Prediction<T>> predicted(const Capacity& low, const Capacity& value,
                                       const Capacity& high, std::optional<T> Capacity::*member) {
  if (!(low.*member) || !(value.*member) || !(high.*member)) return std::nullopt;
  return Prediction<T>{*(low.*member), *(value.*member), *(high.*member)};
}

std::optional<Printed<Tokens>> as_tokens(const std::optional<Printed<std::int64_t>>& p) {
  if (!p) return std::nullopt;
  return Printed<Tokens>{Tokens(p->least), Tokens(p->most), Tokens(p->half), p->line, p->times};
}

std::optional<Prediction<Tokens>> as_tokens(const std::optional<Prediction<std::int64_t>>& p) {
  if (!p) return std::nullopt;
  return Prediction<Tokens>{Tokens(p->low), Tokens(p->value), Tokens(p->high)};
}

class CacheLines {
 public:
  CacheLines(const Setup& setup, const StartLog& log)
      : setup_(setup),
        log_(log),
        engine_(make_engine(setup.engine, setup.model, setup.deployment)),
        length_(length_of(setup)),
        pool_(pool_of(setup, *engine_, log)) {}

  std::vector<CheckLine> all() {
    if (setup_.engine.name == "llama.cpp" || setup_.engine.name == "ollama") {
      whole_cache();
      return std::move(lines_);
    }
    blocks();
    counts();
    refusals();
    allocated();
    return std::move(lines_);
  }

 private:
  template <class T>
  void line(const char* what, const std::optional<Printed<T>>& printed,
            const std::optional<Prediction<T>>& prediction, const std::string& from) {
    if (printed)
      lines_.push_back(compared(what, *printed, prediction,
                                prediction ? "from " + from : "the cache's memory is not known"));
  }
  Capacity at(Bytes pool) const { return engine_->capacity(pool, length_); }

  void blocks() {
    const auto size = at(Bytes(kHuge)).block_tokens;
    if (size)
      line("tokens per block", log_.block_tokens,
           std::optional(Prediction<std::int64_t>{*size, *size, *size}), "the layout");
    if (!pool_) return line("blocks", log_.blocks, std::optional<Prediction<std::int64_t>>{}, "");
    line("blocks", log_.blocks,
         predicted(at(pool_->low), at(pool_->value), at(pool_->high), &Capacity::blocks),
         pool_->from);
  }

  // With a logged number of blocks everything else follows to the digit.
  void counts() {
    const auto size = block_bytes(*engine_, length_);
    std::optional<Pool> pool = pool_;
    if (log_.blocks && size && log_.blocks->least > 0 &&
        log_.blocks->least < kHuge / std::max<std::int64_t>(size->n, 1)) {
      const Bytes exact = *size * log_.blocks->least;
      pool = Pool{exact, exact, exact, "the logged blocks"};
    }
    Capacity low, value, high;
    if (pool) low = at(pool->low), value = at(pool->value), high = at(pool->high);
    const std::string from = pool ? pool->from : "";
    line("tokens", as_tokens(log_.tokens),
         as_tokens(predicted(low, value, high, &Capacity::kv_tokens)), from);
    line("requests of full length", log_.concurrency,
         predicted(low, value, high, &Capacity::max_concurrency), from);
    if (log_.longest_request)
      line("longest request", as_tokens(log_.longest_request),
           predicted(low, value, high, &Capacity::max_context), from);
  }

  // "24.00 GiB KV cache is needed"
  void refusals() {
    for (const Refusal& refusal : log_.refusals)
      if (refusal.cause == Refusal::request_too_long && refusal.needed && refusal.length &&
          refusal.length->n > 0) {
        const Bytes one = engine_->reserved(*refusal.length, 1);
        line("cache of one request", refusal.needed,
             std::optional(Prediction<Bytes>{one, one, one}), "the request's length");
      }
  }

  // SGLang and TensorRT-LLM print the size of what they allocated for so many tokens, SGLang with a
  // page of padding in each of its pools.
  void allocated() {
    if (!log_.cache || !log_.tokens || log_.tokens->least < 1) return;
    const Capacity one = at(Bytes(kHuge));
    const std::int64_t page = one.block_tokens.value_or(1);
    if (!one.kv_tokens || *one.kv_tokens < 1) return;
    const double per_token = static_cast<double>(kHuge) / static_cast<double>(*one.kv_tokens);
    const auto of = [&](std::int64_t padding) {
      return Bytes(std::llround(per_token * static_cast<double>(log_.tokens->least + padding)));
    };
    const std::int64_t pads = setup_.engine.name == "sglang" ? page : 0;
    const Bytes low = of(pads), high = log_.window_tokens ? of(kWindowPadding * pads) : low;
    line("cache allocated", log_.cache, std::optional(Prediction<Bytes>{low, low, high}),
         "the logged tokens");
    states();
  }

  // SGLang allocates one state more than it says, for padding.
  void states() {
    if (!log_.states || !log_.state_cache || log_.states->least < 1) return;
    const auto with = [&](std::int64_t n) {
      EngineOptions options = setup_.engine;
      options.settings["max_mamba_cache_size"] = std::to_string(n);
      return make_engine(options, setup_.model, setup_.deployment)->reserved(Tokens(1), 1);
    };
    const std::int64_t n = log_.states->least;
    const Bytes all = (with(n + 1) - with(n)) * checked_add(n, 1);
    line("states allocated", log_.state_cache, std::optional(Prediction<Bytes>{all, all, all}),
         "the logged number of states");
  }

  void whole_cache() {
    std::optional<Printed<Bytes>> sum = log_.cache;
    if (!sum)
      for (const auto& [device, printed] : log_.cache_buffers) {
        if (!sum) sum = Printed<Bytes>{Bytes(0), Bytes(0), Bytes(0), printed.line, 0};
        sum->least += printed.least;
        sum->half += printed.half;
      }
    if (sum && log_.state_cache) {
      sum->least += log_.state_cache->least;
      sum->half += log_.state_cache->half;
    }
    if (!sum) sum = log_.state_cache;
    if (!sum) return;
    sum->most = sum->least;
    const Bytes total = engine_->reserved_total(length_, 1);
    line("cache, all devices", sum, std::optional(Prediction<Bytes>{total, total, total}),
         "the context and the slots");
  }

  const Setup& setup_;
  const StartLog& log_;
  std::unique_ptr<Engine> engine_;
  Tokens length_;
  std::optional<Pool> pool_;
  std::vector<CheckLine> lines_;
};

}  // namespace

std::optional<Pool> pool_of(const Setup& setup, const Engine& engine, const StartLog& log) {
  if (setup.engine.kv_pool)
    return Pool{*setup.engine.kv_pool, *setup.engine.kv_pool, *setup.engine.kv_pool, "--kv-pool"};
  if (log.pool) return between(*log.pool, "the logged cache memory");
  if (auto pool = from_free_memory(setup, engine, log)) return pool;
  if (!setup.device || setup.device->memory.value.n <= 0) return std::nullopt;
  const BudgetLine line = engine.budget(*setup.device).kv_pool;
  return Pool{clamped(line.low), clamped(line.value), clamped(line.high), "the predicted budget"};
}

std::vector<CheckLine> cache_lines(const Setup& setup, const StartLog& log) {
  return CacheLines(setup, log).all();
}

}  // namespace kvplan
