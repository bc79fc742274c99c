// SPDX-License-Identifier: Apache-2.0
// What TensorRT-LLM prints: formats as in the start-ups quoted in TensorRT-LLM#224, #1400, #2268,
// #2683, #3092, #3467, #4028, #6294 and triton-inference-server/tutorials#150.
#include <array>

#include "logs/notes.h"

namespace kvplan::logs {
namespace {

using L = StartLog;

void windowed_blocks(StartLog& log, const Found& f) {
  each<skip, skip, count<&L::block_tokens>, count<&L::blocks>, count<&L::host_blocks>>(log, f);
}

constexpr std::array kRows = {
    Row{"TensorRT-LLM version: {w}", each<version>},
    Row{"[TensorRT-LLM][INFO] Engine version {w} found", each<version>},
    Row{"TRTGptModel maxSequenceLen: {n}", each<set<"max_seq_len">>},
    Row{"TRTGptModel maxBatchSize: {n}", each<set<"max_batch_size">>},
    Row{"TRTGptModel maxNumTokens: {n}", each<set<"max_num_tokens">>},
    Row{"Rank {n} uses {n} GB for model weights", each<skip, bytes<&L::weights, kGiB>>},
    Row{"[MemUsageChange] Allocated {n} MiB for execution context memory",
        each<bytes<&L::activation, kMiB>>},
    Row{"Memory usage when calculating max tokens in paged kv cache: total: {n} GiB, available: "
        "{n} GiB",
        each<bytes<&L::device_memory, kGiB>, bytes<&L::free_after, kGiB>>},
    Row{"available KV cache memory when calculating max tokens: {n} GiB, fraction is set {n}",
        each<bytes<&L::free_after, kGiB, 2>, ratio<&L::utilization, 2>>},
    Row{"device total memory {n} GiB", each<bytes<&L::device_memory, kGiB, 2>>},
    Row{"Estimated max memory in KV cache : {n} GiB", each<bytes<&L::pool, kGiB, 2>>},
    Row{"Number of blocks in KV cache primary pool: {n}", each<count<&L::blocks>>},
    Row{"Max KV cache blocks per sequence: {n} [window size={n}], tokens per block={n}, primary "
        "blocks={n}, secondary blocks={n}",
        windowed_blocks},
    Row{"Number of tokens per block: {n}", each<count<&L::block_tokens>>},
    Row{"[MemUsageChange] Allocated {n} GiB for max tokens in paged KV cache ({n})",
        each<bytes<&L::cache, kGiB>, count<&L::tokens>>},
    Row{"Allocate {n} bytes for k/v cache", each<bytes<&L::cache, 1>>},
    Row{"Using {n} tokens in paged KV cache", each<count<&L::tokens>>},
};

}  // namespace

std::span<const Row> trtllm_rows() { return kRows; }

}  // namespace kvplan::logs
