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

constexpr std::array kRows = {
    Row{"server_args=ServerArgs({*}", arguments},
    Row{"Load weight begin. avail mem={n} GB", each<bytes<&L::free_before, kGiB>>},
    Row{"Load weight end. {*}avail mem={n} GB, mem usage={n} GB",
        each<skip, bytes<&L::free_after, kGiB>, bytes<&L::weights, kGiB>>},
    Row{"Load weight end. {*}avail mem={n} GB", each<skip, bytes<&L::free_after, kGiB>>},
    Row{"KV Cache is allocated. {*}#tokens: {n}, K size: {n} GB, V size: {n} GB",
        [](StartLog& log, const Found& f) {
          Found rest = f;
          std::copy(f.captures.at.begin() + 1, f.captures.at.end(), rest.captures.at.begin());
          --rest.captures.count;
          allocated(log, rest);
        }},
    Row{"KV Cache is allocated. {*}#tokens: {n}, KV size: {n} GB",
        [](StartLog& log, const Found& f) {
          Found rest = f;
          std::copy(f.captures.at.begin() + 1, f.captures.at.end(), rest.captures.at.begin());
          --rest.captures.count;
          allocated(log, rest);
        }},
    Row{"Use sliding window memory pool. full_layer_tokens={n}, swa_layer_tokens={n}", windows},
    Row{"Mamba Cache is allocated. max_mamba_cache_size: {n}, conv_state size: {n}GB, ssm_state "
        "size: {n}GB",
        each<count<&L::states>, bytes<&L::state_cache, kGiB>>},
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
