// SPDX-License-Identifier: Apache-2.0
// The whole budget from a published configuration, against the KV memory that vLLM printed.
#include <doctest/doctest.h>

#include <cmath>

#include "catalog/huggingface.h"
#include "engine/options.h"
#include "engine/vllm.h"

using namespace kvplan;

namespace {

constexpr const char* kLlama8b =
    R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": false,
        "torch_dtype": "bfloat16"})";
constexpr const char* kQwen06b =
    R"({"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 3072, "vocab_size": 151936, "max_position_embeddings": 40960,
        "tie_word_embeddings": true, "torch_dtype": "bfloat16"})";
constexpr const char* kGptOss120b =
    R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
        "intermediate_size": 2880, "num_local_experts": 128, "num_experts_per_tok": 4,
        "sliding_window": 128, "vocab_size": 201088, "max_position_embeddings": 131072,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention", "sliding_attention", "full_attention", "sliding_attention",
          "full_attention"],
        "tie_word_embeddings": false, "torch_dtype": "bfloat16",
        "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert":
          ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
           "lm_head"]}})";

struct Start {
  const char* source;
  const char* config;
  const char* version;
  double memory_gib, utilization;
  std::map<std::string, std::string> set;
  double logged_gib;
};

Budget budget_of(const Start& start) {
  DeviceSpec device;
  device.name = "a card";
  device.memory.value =
      Bytes(static_cast<std::int64_t>(start.memory_gib * static_cast<double>(kGiB)));
  EngineOptions options = test::engine_options("vllm");
  options.version = start.version;
  options.settings = start.set;
  options.utilization = start.utilization;
  options.device = device;
  Deployment deployment;
  deployment.cache = cache_formats("bf16");
  return make_vllm(options, read_huggingface(parse_json(start.config)), deployment)->budget(device);
}

}  // namespace

TEST_CASE("available KV memory is within 0.1 GiB of what vLLM printed") {
  const std::vector<Start> starts = {
      {"vllm#10517", kLlama8b, "0.6.4", 23.58, 0.9, {{"max_model_len", "20000"}}, 3.81},
      {"vllm#10517", kLlama8b, "0.6.4", 23.58, 0.9, {{"max_model_len", "29000"}}, 2.89},
      {"public H100 table", kLlama8b, "0.11", 79.18, 0.9, {}, 51.38},
      {"public H100 table", kQwen06b, "0.11", 79.18, 0.9, {}, 64.45},
      {"vllm#23278", kGptOss120b, "0.11", 79.18, 0.9, {}, -2.14},
      {"vllm#27508", kGptOss120b, "0.11", 79.18, 0.95, {{"max_num_batched_tokens", "1024"}}, 1.71},
  };
  for (const Start& start : starts) {
    CAPTURE(start.source);
    CAPTURE(start.logged_gib);
    const Budget b = budget_of(start);
    const auto gib = [](Bytes n) { return n.real() / static_cast<double>(kGiB); };
    CHECK(std::abs(gib(b.kv_pool.value) - start.logged_gib) < 0.1);
    CHECK(gib(b.kv_pool.low) <= start.logged_gib);
    CHECK(start.logged_gib <= gib(b.kv_pool.high));
  }
}
