// SPDX-License-Identifier: Apache-2.0
// What SGLang prints: formats as in the start-ups quoted in sglang#4895, #7691, #11309, #18039,
// #18263, #29575 and vllm#21348. Its "GB" are 2^30 bytes.
#include <array>

#include "logs/notes.h"
#include "logs/python.h"

namespace kvplan::logs {
namespace {

using L = StartLog;

void arguments(StartLog& log, const Found& f) {
  begin(log);
  for (const auto& [key, value] : python_pairs(f[0]))
    if (key == "model_path")
      put_model(log, value);
    else
      put(log, key, value);
}

Found without_first(const Found& f) {
  Found rest = f;
  std::copy(f.captures.at.begin() + 1, f.captures.at.end(), rest.captures.at.begin());
  --rest.captures.count;
  return rest;
}

// Keys and values are two sizes; a hybrid model prints a pair for each of its pools.
void allocated(StartLog& log, const Found& f) {
  const auto tokens = whole(f[0]);
  Printed<Bytes> sum;
  for (std::size_t i = 1; i < f.captures.count; ++i)
    if (const auto part = size(f[i], kGiB, 2, f.number)) {
      sum.least += part->least;
      sum.half += part->half;
    }
  sum.most = sum.least;
  sum.line = f.number;
  if (tokens) see(log.tokens, {*tokens, *tokens, 0, f.number, 1});
  see(log.cache, sum);
}

void windows(StartLog& log, const Found& f) {
  log.tokens.reset();
  each<count<&L::tokens>, count<&L::window_tokens>>(log, f);
}

// The sum of both pools, which were printed one by one before.
void both_pools(StartLog& log, const Found& f) {
  for (auto* field : {&log.tokens, &log.window_tokens}) field->reset();
  log.cache.reset();
  each<bytes<&L::cache, kGiB, 2>, count<&L::window_tokens>, count<&L::tokens>>(log, f);
}

// Convolution and recurrent part of so many states; with speculation their drafts' beside.
void states(StartLog& log, const Found& f) {
  each<count<&L::states>>(log, f);
  put(log, "max_mamba_cache_size", f[0]);
  log.state_cache.reset();
  for (std::size_t i = 1; i < f.captures.count; ++i)
    if (const auto part = size(f[i], kGiB, 2, f.number)) add(log.state_cache, *part);
}

// DeepSeek-V4: "available_bytes=118.93 GB, c128_state_fixed=1.01 GB, full_token=9217792"; what is
// fixed is printed too, but the engine computes it from the requests as kv-plan does.
void compressed(StartLog& log, const Found& f) {
  log.tokens.reset();
  each<bytes<&L::pool, kGiB, 2>>(log, f);
  const auto tokens = match(f[1], "full_token={n}");
  if (tokens) count<&L::tokens>(log, {f.line, f.number, *tokens}, 0);
}

constexpr std::array kRows = {
    Row{"server_args=ServerArgs({*}", arguments},
    Row{"Load weight begin. avail mem={n} GB", each<bytes<&L::free_before, kGiB>>},
    Row{"Load weight end. {*}avail mem={n} GB, mem usage={n} GB",
        each<skip, bytes<&L::free_after, kGiB>, bytes<&L::weights, kGiB>>},
    Row{"Load weight end. {*}avail mem={n} GB", each<skip, bytes<&L::free_after, kGiB>>},
    Row{"KV Cache is allocated. {*}#tokens: {n}, K size: {n} GB, V size: {n} GB",
        [](StartLog& log, const Found& f) { allocated(log, without_first(f)); }},
    Row{"KV Cache is allocated. {*}#tokens: {n}, KV size: {n} GB",
        [](StartLog& log, const Found& f) { allocated(log, without_first(f)); }},
    Row{"Use sliding window memory pool. full_layer_tokens={n}, swa_layer_tokens={n}", windows},
    Row{"SWAKVPool mem usage: {n} GB, swa size: {n}, full size: {n}", both_pools},
    Row{"Memory profiling: {*}mem_fraction_static={n}, rest_memory={n} GB",
        each<skip, ratio<&L::utilization, 4>, bytes<&L::pool, kGiB, 2>>},
    Row{"DSV4 memory calculation: {*}available_bytes={n} GB{*}",
        [](StartLog& log, const Found& f) { compressed(log, without_first(f)); }},
    Row{"DSv4 memory calculation: {*}available_bytes={n} GB{*}",
        [](StartLog& log, const Found& f) { compressed(log, without_first(f)); }},
    Row{"Mamba Cache is allocated. max_mamba_cache_size: {n}, conv_state size: {n}GB, ssm_state "
        "size: {n}GB",
        states},
    Row{"max_total_num_tokens={n}, {*}context_len={n}",
        each<count<&L::tokens>, skip, set<"context_length">>},
    Row{"is larger than the profiled value {n}", each<count<&L::tokens>>},
    Row{"Capture cuda graph end. {*}mem usage={n} GB", each<skip, bytes<&L::graphs, kGiB>>},
    Row{"Not enough memory. Please try to increase --mem-fraction-static",
        refused<Refusal::no_cache>},
    Row{"Not enough memory to allocate KV cache", refused<Refusal::no_cache>},
};

}  // namespace

std::span<const Row> sglang_rows() { return kRows; }

}  // namespace kvplan::logs
