// SPDX-License-Identifier: Apache-2.0
// The logs of tests/logs/examples are written after the public formats, with the numbers of public
// start-ups: vllm#10517, noonghunna/club-3090#104, vllm#25350, vllm#21348, TensorRT-LLM#2268.
#include "logs/read.h"
#include "engine/options.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

using namespace kvplan;

namespace {

StartLog example(const std::string& name) {
  std::ifstream in(KVPLAN_SOURCE_DIR "/tests/logs/examples/" + name + ".log");
  REQUIRE(in);
  return read_log(in, test::shipped_engines());
}

StartLog text(const std::string& lines) {
  std::istringstream in(lines);
  return read_log(in, test::shipped_engines());
}

Bytes gib(double n) {
  return Bytes(static_cast<std::int64_t>(n * static_cast<double>(kGiB) + 0.5));
}

}  // namespace

TEST_CASE("a start of vLLM V0 gives every line of its budget") {
  const StartLog log = example("vllm-0.6.4-llama-3.1-8b");
  CHECK(log.engine == "vllm");
  CHECK(log.version == "0.6.4");
  CHECK(log.model.find("Llama-3.1-8B-Instruct") != std::string::npos);
  CHECK(log.settings.at("max_model_len") == "20000");
  CHECK(log.settings.at("enforce_eager") == "true");
  CHECK(log.settings.count("kv_cache_dtype") == 0);  // auto
  CHECK(log.device_memory->least == gib(23.58));
  CHECK(log.utilization->least == 0.9);
  CHECK(log.weights->least == gib(14.9888));
  CHECK(log.weights->most == gib(14.99));
  CHECK(log.non_torch->least == gib(0.35));
  CHECK(log.activation->least == gib(2.07));
  CHECK(log.pool->least == gib(3.81));
  CHECK(log.pool->half == Bytes(kGiB / 200 + 1));
  CHECK(log.blocks->least == 1952);
  CHECK(log.host_blocks->least == 2048);
  CHECK(log.concurrency->least == 1.56);
  CHECK(log.refusals.empty());
}

TEST_CASE("arguments, resolved settings and thousands are read from a start of vLLM V1") {
  const StartLog log = example("vllm-0.21-qwen3.6-27b-tp2");
  CHECK(log.version == "0.21.0");
  CHECK(log.model == "Qwen/Qwen3.6-27B");
  CHECK(log.settings.at("tensor_parallel_size") == "2");
  CHECK(log.settings.at("kv_cache_dtype") == "fp8_e5m2");
  CHECK(log.settings.at("gpu_memory_utilization") == "0.88");
  CHECK(log.settings.at("enable_prefix_caching") == "true");
  CHECK(log.tokens->least == 619202);
  CHECK(log.pool->least == gib(9.84));
}

TEST_CASE("memory printed in bytes is better than the same rounded") {
  const StartLog log = example("vllm-0.10.2-llava");  // a public log
  CHECK(log.pool->least == Bytes(59212694937));
  CHECK(log.pool->half == Bytes(0));
  CHECK(log.weights->most == gib(14.08));
  CHECK(log.activation->least == gib(1.97));
  CHECK(log.graphs->least == gib(0.67));
  CHECK(log.settings.at("max_num_batched_tokens") == "16384");
  // 131,072 B per token in blocks of 16.
  CHECK(log.tokens->least == 59212694937 / (16 * 131072) * 16);
}

TEST_CASE("weights and what lies outside the allocator may be one amount") {
  const StartLog log = example("vllm-0.31-llama-3.1-8b");
  CHECK(log.consumed->least == gib(15.26));
  CHECK(log.tokens->least == 460496);
  CHECK(log.concurrency->least == 3.51);
  CHECK(log.settings.at("max_model_len") == "131072");
}

TEST_CASE("a draft's context is added, and its lost states are counted") {
  const StartLog log = example("llamacpp-qwen3.8-27b-mtp");
  CHECK(log.settings.at("spec_type") == "draft-mtp");
  CHECK(log.settings.at("spec_draft_n_max") == "2");
  CHECK(log.settings.at("parallel") == "4");
  CHECK(log.cache_buffers.at("Vulkan0").least == Bytes(544 * kMiB));
  CHECK(log.state_cache->least == Bytes(1795 * kMiB + kMiB / 2));
}

TEST_CASE("a refusal keeps what was needed, what there was and what would fit") {
  const StartLog log = example("vllm-0.10-refused");
  REQUIRE(log.refusals.size() == 1);
  const Refusal& refusal = log.refusals.front();
  CHECK(refusal.cause == Refusal::request_too_long);
  CHECK(refusal.length == Tokens(221000));
  CHECK(refusal.longest == Tokens(122080));
  CHECK(refusal.needed->least == gib(10.12));
  CHECK(refusal.available->least == gib(5.59));
  CHECK(refusal.line == 5);
}

TEST_CASE("refusals of several ranks and tracebacks count once") {
  const std::string line =
      "(Worker_TP0) ValueError: No available memory for the cache blocks. Try increasing …\n";
  CHECK(text(line + line + line).refusals.size() == 1);
  const StartLog log = text(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total "
      "capacity of 23.55 GiB of which 1.20 GiB is free. Including non-PyTorch memory\n");
  REQUIRE(log.refusals.size() == 1);
  CHECK(log.refusals.front().cause == Refusal::out_of_memory);
  CHECK(log.refusals.front().needed->least == gib(1.96));
  CHECK(log.device_memory->least == gib(23.55));
}

TEST_CASE("ranks that print different memory give the least and the most") {
  const StartLog log = text(
      "(Worker_TP0 pid=1) INFO [gpu_worker.py:480] Available KV cache memory: 6.87 GiB\n"
      "(Worker_TP1 pid=2) INFO [gpu_worker.py:480] Available KV cache memory: 5.0 GiB\n");
  CHECK(log.pool->least == gib(5.0));
  CHECK(log.pool->most == gib(6.87));
  CHECK(log.pool->half == Bytes(kGiB / 200 + 1));  // "5.0" was rounded to hundredths
  CHECK(log.pool->times == 2);
}

TEST_CASE("a start of SGLang gives its arguments and its cache") {
  const StartLog log = example("sglang-qwen3-235b-tp4");
  CHECK(log.engine == "sglang");
  CHECK(log.model == "Qwen/Qwen3-235B-A22B-FP8");
  CHECK(log.settings.at("tp_size") == "4");
  CHECK(log.settings.at("mem_fraction_static") == "0.93");
  CHECK(log.settings.at("context_length") == "40960");
  CHECK(log.settings.count("speculative_algorithm") == 0);
  CHECK(log.tokens->least == 367404);
  CHECK(log.cache->least == gib(8.23) + gib(8.23));
}

TEST_CASE("a start of TensorRT-LLM gives what was free and the blocks") {
  const StartLog log = example("trtllm-qwen1.5-7b");
  CHECK(log.engine == "trtllm");
  CHECK(log.version == "0.13.0.dev2024082000");
  CHECK(log.device_memory->least == gib(39.39));
  CHECK(log.free_after->least == gib(21.89));
  CHECK(log.blocks->least == 631);
  CHECK(log.settings.at("max_seq_len") == "8192");
}

TEST_CASE("a start of llama.cpp gives caches of all kinds, summed") {
  const StartLog log = example("llamacpp-gpt-oss-20b");
  CHECK(log.engine == "llama.cpp");
  CHECK(log.version == "b7100");
  CHECK(log.settings.at("ctx_size") == "131072");
  CHECK(log.settings.at("parallel") == "4");
  CHECK(log.settings.at("kv_unified") == "true");
  CHECK(log.settings.at("flash_attn") == "on");
  CHECK(log.settings.at("cache_type_k") == "f16");
  CHECK(log.cache->least == Bytes(3096 * kMiB));
  CHECK(log.cache_buffers.at("CUDA0").least == Bytes(3096 * kMiB));
  CHECK(log.offloaded_layers == 25);
}

TEST_CASE("a start of ollama's own runner gives context, slots and buffers") {
  const StartLog log = text(
      "time=2025-09-01T10:00:00.000Z level=INFO source=routes.go:1331 msg=\"Listening on "
      "127.0.0.1:11434 (version 0.11.8)\"\n"
      "time=2025-09-01T10:00:05.000Z level=INFO source=runner.go:1006 msg=load "
      "request=\"{Operation:commit LoraPath:[] Parallel:2 BatchSize:512 FlashAttention:true "
      "KvSize:16384 KvCacheType:q8_0 NumThreads:8 GPULayers:25}\"\n"
      "time=2025-09-01T10:00:06.000Z level=INFO source=device.go:240 msg=\"model weights\" "
      "device=CUDA0 size=\"11.8 GiB\"\n"
      "time=2025-09-01T10:00:06.000Z level=INFO source=device.go:251 msg=\"kv cache\" "
      "device=CUDA0 size=\"300.0 MiB\"\n");
  CHECK(log.engine == "ollama");
  CHECK(log.version == "0.11.8");
  CHECK(log.settings.at("num_ctx") == "8192");
  CHECK(log.settings.at("num_parallel") == "2");
  CHECK(log.settings.at("kv_cache_type") == "q8_0");
  CHECK(log.cache_buffers.at("CUDA0").least == Bytes(300 * kMiB));
}

TEST_CASE("a failed allocation of llama.cpp says what it was for") {
  const StartLog log = text(
      "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8900.01 MiB on device 0: cudaMalloc "
      "failed: out of memory\n"
      "llama_new_context_with_model: failed to allocate compute buffers\n");
  REQUIRE(log.refusals.size() == 1);
  CHECK(log.refusals.front().device == "device 0");
  CHECK(log.refusals.front().text.find("failed to allocate compute buffers") != std::string::npos);
}

TEST_CASE("the metadata that llama.cpp lists is kept by key") {
  const StartLog log = text(
      "llama_model_loader: - kv   3:                       llama.block_count u32              = "
      "32\n"
      "llama_model_loader: - kv  13:              tokenizer.ggml.tokens arr[str,128256]  = "
      "[\"!\", \"\\\"\", ...\n"
      "llama_model_loader: - kv   0:                       general.architecture str              = "
      "llama\n");
  CHECK(log.metadata.at("llama.block_count") == "32");
  CHECK(log.metadata.at("general.architecture") == "llama");
  CHECK(log.metadata.at("tokenizer.ggml.tokens").starts_with("arr[str,128256]="));
}

TEST_CASE("a second start replaces the first") {
  const std::string first =
      "INFO vLLM API server version 0.9.0\nINFO Available KV cache memory: 1.00 GiB\n"
      "INFO GPU KV cache size: 16 tokens\n";
  const StartLog log = text(first +
                            "INFO vLLM API server version 0.10.0\n"
                            "INFO GPU KV cache size: 32 tokens\n");
  CHECK(log.starts == 2);
  CHECK(log.version == "0.10.0");
  CHECK(log.tokens->least == 32);
  CHECK_FALSE(log.pool.has_value());
}

TEST_CASE("colours, carriage returns and UTF-16 do not hide a line") {
  const std::string line = "INFO GPU KV cache size: 178,880 tokens";
  CHECK(text("\x1b[32mINFO\x1b[0m GPU \x1b[1mKV cache size: 178,880 tokens\x1b[0m\r\n")
            .tokens->least == 178880);
  CHECK(text("loading 10 %\rloading 99 %\r" + line).tokens->least == 178880);
  std::string wide = "\xff\xfe";
  for (const char c : line + "\r\n") wide += std::string{c, '\0'};
  CHECK(text(wide).tokens->least == 178880);
}

TEST_CASE("a log that names no version is dated by the form of its lines") {
  CHECK(text("llama_kv_cache_init:      CUDA0 KV buffer size =   160.00 MiB\n").version_hint ==
        "b3000");
  CHECK(text("llama_kv_cache: size = 72.00 MiB ( 8192 cells, 8 layers, 4/1 seqs), K (f16): 72.00 "
             "MiB, V (f16): 0.00 MiB\nllama_kv_cache: attn_rot_k = 0, n_embd_head_k_all = 576\n")
            .version_hint == "b8600");
  CHECK(text("INFO GPU KV cache size: 178,880 tokens\n").version_hint == "0.8.3");
  CHECK(text("nothing that any engine prints\n").engine.empty());
}

TEST_CASE("a start of vLLM before 0.6.5 prints its profile as pairs") {
  const StartLog log = text(  // vllm#10517
      "Loading model weights took 14.9888 GB\n"
      "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB "
      "peak_torch_memory=17.06GiB memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB "
      "kv_cache_size=3.81GiB gpu_memory_utilization=0.90\n"
      "GPU blocks: 1952, # CPU blocks: 2048\n");
  CHECK(log.device_memory->least == gib(23.58));
  CHECK(log.non_torch->least == gib(0.35));
  CHECK(log.pool->least == gib(3.81));
  CHECK(log.utilization->least == 0.9);
  CHECK(log.blocks->least == 1952);
  CHECK(log.host_blocks->least == 2048);
  const double peak = log.activation->least.real() / static_cast<double>(kGiB);  // without weights
  CHECK(peak == doctest::Approx(17.06 - 14.9888));
}

TEST_CASE("lines that a collector wrapped in JSON read as what they were") {
  const StartLog log = text(
      "{\"log\":\"\\u001b[1;36m(EngineCore pid=1)\\u001b[0m INFO [gpu_worker.py:373] Available "
      "\\u001b[1mKV\\u001b[0m cache memory: 9.25 GiB\\n\",\"stream\":\"stderr\"}\r\n"
      "{\"message\": \"GPU KV cache size: 808,192 tokens\", \"level\": \"INFO\"}\r\n");
  CHECK(log.engine == "vllm");
  CHECK(log.pool->least == gib(9.25));
  CHECK(log.tokens->least == 808192);
  const StartLog ollama = text(
      "{\"log\":\"time=1 level=INFO source=x msg=\\\"kv cache\\\" device=CUDA0 "
      "size=\\\"1.5 GiB\\\"\\n\"}\n");
  CHECK(ollama.cache_buffers.at("CUDA0").least == gib(1.5));
}

TEST_CASE("what a start of vLLM used in the end has its cache in GiB or bytes") {
  const StartLog log = text(
      "GPU KV cache size: 9,026,017 tokens\n"
      "Free memory on device (191.36/191.69 GiB) on startup. Desired GPU memory utilization is "
      "(0.9, 172.52 GiB). Actual usage is 11.88 GiB for consumed memory (weights + non-torch), "
      "5.59 "
      "GiB for peak activation, and 3.9 GiB for CUDAGraph memory. Current kv cache memory in use "
      "is "
      "155.04 GiB.\n");
  CHECK(log.consumed->least == gib(11.88));
  CHECK(log.pool->least == gib(155.04));
  CHECK(log.version_hint == "0.27");
}

TEST_CASE("SGLang prints its pool outright, and both pools of a model with windows") {
  const StartLog v4 = text(
      "DSV4 memory calculation: bytes_per_full_token=13735.04, available_bytes=118.93 GB, "
      "c128_state_fixed=1.01 GB, full_token=9217792\n");
  CHECK(v4.engine == "sglang");
  CHECK(v4.pool->least == gib(118.93));
  CHECK(v4.tokens->least == 9217792);
  const StartLog rest = text(
      "Memory profiling: available_gpu_memory=57.01 GB, total_gpu_memory=93.58 GB, "
      "mem_fraction_static=0.60, rest_memory=19.58 GB\n");
  CHECK(rest.pool->least == gib(19.58));
  CHECK(rest.utilization->least == 0.6);
  const StartLog windows = text(
      "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 171008, K size: 16.31 GB, V size: "
      "16.31 GB\nSWAKVPool mem usage: 36.69 GB, swa size: 171008, full size: 213761\n");
  CHECK(windows.tokens->least == 213761);
  CHECK(windows.window_tokens->least == 171008);
  CHECK(windows.cache->least == gib(36.69));
  const StartLog states = text(
      "Mamba Cache is allocated. max_mamba_cache_size: 124, conv_state size: 0.34GB, ssm_state "
      "size: "
      "17.58GB\n");
  CHECK(states.states->least == 124);
  CHECK(states.settings.at("max_mamba_cache_size") == "124");
  CHECK(states.state_cache->least.real() / static_cast<double>(kGiB) == doctest::Approx(17.92));
}
