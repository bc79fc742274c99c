// SPDX-License-Identifier: Apache-2.0
// What vLLM prints, V0 to V1: formats as in the start-ups quoted in vllm#10511, #12126, #12569,
// #16118, #17122, #24162, #34076, #53013, LMCache#2522 and gpustack/runner#251.
#include <array>

#include "logs/notes.h"
#include "logs/python.h"

namespace kvplan::logs {
namespace {

using L = StartLog;

// Keys of the printed configuration whose flag has another name.
std::string_view flag_of(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRenamed = {
      {{"max_seq_len", "max_model_len"},
       {"chunked_prefill_enabled", "enable_chunked_prefill"},
       {"num_spec_tokens", "num_speculative_tokens"}}};
  for (const auto& [printed, flag] : kRenamed)
    if (printed == key) return flag;
  return key;
}

void put_pairs(StartLog& log, std::string_view text, const std::string& prefix = {}) {
  for (const auto& [key, value] : python_pairs(text)) {
    if (prefix.empty() && (key == "model" || key == "model_tag")) put_model(log, value);
    if (prefix.empty() && key == "speculative_config" && value != "None")
      put_pairs(log, inside(value), "speculative_config.");
    else
      put(log, prefix + std::string(flag_of(key)), value);
  }
}

template <std::size_t i>
void arguments(StartLog& log, const Found& f) {
  put_pairs(log, f[i].starts_with('{') ? inside(f[i]) : f[i]);
}

// "Initializing a V1 LLM engine (v0.10.2) with config: model='…', …"
void configuration(StartLog& log, const Found& f) {
  begin(log);
  put_version(log, f[0]);
  arguments<1>(log, f);
}

void served(StartLog& log, const Found& f) {
  begin(log);
  put_version(log, f[0]);
}

// "… max seq len (1048576), (24.00 GiB KV cache is needed, which is larger than the available KV
// cache memory (9.97 GiB). Based on the available memory, the estimated maximum model length is …"
void too_long(StartLog& log, const Found& f) {
  Refusal refusal;
  refusal.cause = Refusal::request_too_long;
  if (const auto length = whole(f[0])) refusal.length = Tokens(*length);
  refusal.needed = size(f[1], kGiB, 2, f.number);
  refusal.available = size(f[2], kGiB, 2, f.number);
  if (f.captures.count > 3)
    if (const auto longest = whole(f[3])) {
      refusal.longest = Tokens(*longest);
      count<&L::longest_request>(log, f, 3);
    }
  if (refusal.available && !log.pool) log.pool = refusal.available;
  if (refusal.length) put(log, "max_model_len", f[0]);
  refuse(log, f, std::move(refusal));
}

// "The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in
// KV cache (3664)."
void more_than_stored(StartLog& log, const Found& f) {
  Refusal refusal;
  refusal.cause = Refusal::request_too_long;
  if (const auto length = whole(f[0])) refusal.length = Tokens(*length);
  if (const auto longest = whole(f[1])) refusal.longest = Tokens(*longest);
  count<&L::tokens>(log, f, 1);
  if (refusal.length) put(log, "max_model_len", f[0]);
  refuse(log, f, std::move(refusal));
}

void in_use(StartLog& log, const Found& f) {
  Refusal refusal;
  refusal.cause = Refusal::device_in_use;
  refusal.available = size(f[1], kGiB, 2, f.number);
  refusal.needed = size(f[4], kGiB, 2, f.number);
  each<skip, bytes<&L::free_memory, kGiB, 2>, bytes<&L::device_memory, kGiB, 2>,
       ratio<&L::utilization, 2>>(log, f);
  refuse(log, f, std::move(refusal));
}

// "Current kv cache memory in use is 59212694937 bytes": better than the same rounded.
void exact_pool(StartLog& log, const Found& f, std::size_t i) {
  const auto printed = size(f[i], 1, 0, f.number);
  if (printed && log.pool && log.pool->half.n > 0) log.pool.reset();
  if (printed) see(log.pool, *printed);
}

constexpr std::array kUsage = {
    Row{"{n} GiB for weight, {n} GiB for peak activation, {n} GiB for non-torch memory, and {n} "
        "GiB for CUDAGraph memory",
        each<bytes<&L::weights, kGiB, 2>, bytes<&L::activation, kGiB, 2>,
             bytes<&L::non_torch, kGiB, 2>, bytes<&L::graphs, kGiB, 2>>},
    Row{"{n} GiB for consumed memory (weights + non-torch), {n} GiB for peak activation, and {n} "
        "GiB for CUDAGraph memory",
        each<bytes<&L::consumed, kGiB, 2>, bytes<&L::activation, kGiB, 2>,
             bytes<&L::graphs, kGiB, 2>>},
    Row{"Current kv cache memory in use is {n} bytes", each<exact_pool>},
    Row{"Current kv cache memory in use is {n} GiB", each<bytes<&L::pool, kGiB, 2>>},
};

// The parts of the memory in use, printed after the graphs are captured.
void usage(StartLog& log, const Found& f) {
  each<bytes<&L::free_memory, kGiB, 2>, bytes<&L::device_memory, kGiB, 2>,
       ratio<&L::utilization, 4>>(log, f);
  all_of(kUsage, log, f[4], f.number);
}

constexpr std::array kProfile = {
    Row{"total_gpu_memory={n}GiB", each<bytes<&L::device_memory, kGiB, 2>>},
    Row{"non_torch_memory={n}GiB", each<bytes<&L::non_torch, kGiB, 2>>},
    Row{"kv_cache_size={n}GiB", each<bytes<&L::pool, kGiB, 2>>},
    Row{"gpu_memory_utilization={n}", each<ratio<&L::utilization, 2>>},
    // The peak holds the weights too.
    Row{"peak_torch_memory={n}GiB",
        [](StartLog& log, const Found& f) {
          auto peak = size(f[0], kGiB, 2, f.number);
          if (!peak || !log.weights) return;
          for (Bytes Printed<Bytes>::*side : {&Printed<Bytes>::least, &Printed<Bytes>::most})
            (*peak).*side -= log.weights->least;
          peak->half += log.weights->half;
          see(log.activation, *peak);
        }},
};

void profile(StartLog& log, const Found& f) { all_of(kProfile, log, f[0], f.number); }

constexpr std::array kRows = {
    Row{"vLLM API server version {w}", served},
    Row{"Initializing a V1 LLM engine ({w}) with config: {*}", configuration},
    Row{"Initializing a V0 LLM engine ({w}) with config: {*}", configuration},
    Row{"Initializing an LLM engine ({w}) with config: {*}", configuration},
    Row{"Initializing an LLM engine with config: {*}", arguments<0>},
    Row{"█ version {w}", served},
    Row{"█ model {w}", each<model>},
    Row{"non-default args: {*}", arguments<0>},
    Row{"Chunked prefill is enabled with max_num_batched_tokens={n}",
        each<set<"max_num_batched_tokens">>},
    Row{"Using max model len {n}", each<set<"max_model_len">>},
    Row{"Asynchronous scheduling is enabled", given<"async_scheduling", "true">},
    Row{"Asynchronous scheduling is disabled", given<"async_scheduling", "false">},
    Row{"Mamba cache mode is set to '{w}'", each<set<"mamba_cache_mode">>},
    Row{"Setting attention block size to {n} tokens", each<count<&L::block_tokens>>},
    // Budget
    Row{"Loading model weights took {n} GB", each<bytes<&L::weights, kGiB>>},
    Row{"Model loading took {n} GB", each<bytes<&L::weights, kGiB>>},
    Row{"Model loading took {n} GiB", each<bytes<&L::weights, kGiB, 2>>},
    Row{"total_gpu_memory ({n}GiB) x gpu_memory_utilization ({n}) = {n}GiB",
        each<bytes<&L::device_memory, kGiB, 2>, ratio<&L::utilization, 2>,
             bytes<&L::allowed, kGiB, 2>>},
    Row{"model weights take {n}GiB; non_torch_memory takes {n}GiB; PyTorch activation peak memory "
        "takes {n}GiB; the rest of the memory reserved for KV Cache is {n}GiB",
        each<bytes<&L::weights, kGiB, 2>, bytes<&L::non_torch, kGiB, 2>,
             bytes<&L::activation, kGiB, 2>, bytes<&L::pool, kGiB, 2>>},
    Row{"Memory profiling results: {*}", profile},
    Row{"total_gpu_memory {n}GiB", each<bytes<&L::device_memory, kGiB, 2>>},
    Row{"gpu_memory_utilization {n}", each<ratio<&L::utilization, 2>>},
    Row{"model weights take {n}GiB", each<bytes<&L::weights, kGiB, 2>>},
    Row{"non_torch_memory {n}GiB", each<bytes<&L::non_torch, kGiB, 2>>},
    Row{"PyTorch activation peak memory {n}GiB", each<bytes<&L::activation, kGiB, 2>>},
    Row{"available_kv_cache_memory {n}GiB", each<bytes<&L::pool, kGiB, 2>>},
    Row{"Free memory on device ({n}/{n} GiB) on startup. Desired GPU memory utilization is ({n}, "
        "{n} GiB). Actual usage is {*}",
        usage},
    Row{"Estimated CUDA graph memory: {n} GiB", each<bytes<&L::graph_estimate, kGiB, 2>>},
    Row{"current --gpu-memory-utilization={n} is", each<ratio<&L::utilization, 4>>},
    Row{"Graph capturing finished in {n} secs, took {n} GiB",
        each<skip, bytes<&L::graphs, kGiB, 2>>},
    Row{"Available KV cache memory: {n} GiB", each<bytes<&L::pool, kGiB, 2>>},
    Row{"Explicitly set ({n}/{n}) GiB for KV cache", each<bytes<&L::pool, kGiB, 2>>},
    // Of the plugin for Ascend.
    Row{"Available memory: {n}, total memory: {n}", each<exact_pool, bytes<&L::device_memory, 1>>},
    // Cache
    Row{"# GPU blocks: {n}, # CPU blocks: {n}", each<count<&L::blocks>, count<&L::host_blocks>>},
    Row{"# CUDA blocks: {n}, # CPU blocks: {n}", each<count<&L::blocks>, count<&L::host_blocks>>},
    Row{"# cuda blocks: {n}, # CPU blocks: {n}", each<count<&L::blocks>, count<&L::host_blocks>>},
    Row{"# rocm blocks: {n}, # CPU blocks: {n}", each<count<&L::blocks>, count<&L::host_blocks>>},
    Row{"# GPU blocks: {n}", each<count<&L::blocks>>},
    Row{"GPU blocks: {n}, # CPU blocks: {n}", each<count<&L::blocks>, count<&L::host_blocks>>},
    Row{"after num_gpu_blocks is: {n}", each<count<&L::blocks>>},
    Row{"GPU KV cache size: {n} tokens, Maximum concurrency for {n} tokens per request: {n}x",
        each<count<&L::tokens>, set<"max_model_len">, ratio<&L::concurrency, 2>>},
    Row{"GPU KV cache size: {n} tokens", each<count<&L::tokens>>},
    Row{"CPU KV cache size: {n} tokens, Maximum concurrency for {n} tokens per request: {n}x",
        each<count<&L::tokens>, set<"max_model_len">, ratio<&L::concurrency, 2>>},
    Row{"Maximum concurrency for {n} tokens per request: {n}x",
        each<set<"max_model_len">, ratio<&L::concurrency, 2>>},
    // Refusals
    Row{"max seq len ({n}), ({n} GiB KV cache is needed, which is larger than the available KV "
        "cache memory ({n} GiB). Based on the available memory, the estimated maximum model length "
        "is {n}",
        too_long},
    Row{"max seq len ({n}), ({n} GiB KV cache is needed, which is larger than the available KV "
        "cache memory ({n} GiB)",
        too_long},
    Row{"max seq len ({n}) is larger than the maximum number of tokens that can be stored in KV "
        "cache ({n})",
        more_than_stored},
    Row{"No available memory for the cache blocks", refused<Refusal::no_cache>},
    Row{"Free memory on device {*}({n}/{n} GiB) on startup is less than desired GPU memory "
        "utilization ({n}, {n} GiB)",
        in_use},
};

constexpr std::array kForms = {
    Form{"Memory profiling", "0.6"},
    Form{"Initializing a V1 LLM engine", "0.7"},
    Form{"GPU KV cache size:", "0.8.3"},
    Form{"(EngineCore", "0.10"},
    Form{"Based on the available memory", "0.9"},
    Form{"CUDA graph memory profiling is enabled", "0.20"},
    Form{"GiB for consumed memory (weights + non-torch)", "0.27"},
    Form{"(EngineCore pid=", "0.17"},
    Form{"tokens, Maximum concurrency for", "0.28"},
};

}  // namespace

std::span<const Row> vllm_rows() { return kRows; }
std::span<const Form> vllm_forms() { return kForms; }

}  // namespace kvplan::logs
