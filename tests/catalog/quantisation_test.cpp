// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "catalog/huggingface.h"

using namespace kvplan;

namespace {

// A small mixture of experts; `scheme` is its quantization_config.
ModelSpec small_moe(const std::string& scheme) {
  return read_huggingface(parse_json(
      R"({"model_type": "qwen3_moe", "hidden_size": 256, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
          "intermediate_size": 512, "moe_intermediate_size": 128, "num_experts": 4,
          "num_experts_per_tok": 2, "vocab_size": 1000, "max_position_embeddings": 4096,
          "tie_word_embeddings": false, "torch_dtype": "bfloat16", "quantization_config": )" +
      scheme + "}"));
}

std::string_view format_of(const ModelSpec& m, std::string_view name) {
  for (const Weight& w : m.layers.at(1).weights)
    if (w.name == name) return w.format->name;
  return "absent";
}

}  // namespace

TEST_CASE("a pattern that names a module keeps everything inside it from being quantised") {
  // As in openai/gpt-oss-120b.
  const ModelSpec m = small_moe(
      R"({"quant_method": "mxfp4",
          "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router"]})");
  CHECK(format_of(m, "self_attn.q_proj") == "bf16");
  CHECK(format_of(m, "mlp.experts.*.up_proj") == "mxfp4");
}

TEST_CASE("a name that contains a module keeps it from being quantised, in its own layer alone") {
  const ModelSpec m = small_moe(
      R"({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.self_attn"]})");
  CHECK(format_of(m, "self_attn.q_proj") == "fp8-tensor");
  CHECK(m.layers[0].weights.front().format->name == "bf16");
}

TEST_CASE("a list of modules and their formats quantises those and nothing else") {
  // As in nvidia/MiniMax-M3-NVFP4 and nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4.
  const ModelSpec m = small_moe(
      R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
          "kv_cache_quant_algo": "FP8", "quantized_layers": {
            "model.layers.0.mlp.experts": {"quant_algo": "NVFP4", "group_size": 16},
            "model.layers.1.mlp.experts": {"quant_algo": "NVFP4", "group_size": 16},
            "model.layers.1.self_attn.q_proj": {"quant_algo": "MXFP8"},
            "model.layers.1.self_attn.o_proj": {"quant_algo": "FP8"}}})");
  CHECK(format_of(m, "mlp.experts.*.up_proj") == "nvfp4");
  CHECK(format_of(m, "self_attn.q_proj") == "mxfp8");
  CHECK(format_of(m, "self_attn.o_proj") == "fp8-tensor");
  CHECK(format_of(m, "self_attn.k_proj") == "bf16");
  CHECK(m.layers[0].weights.front().format->name == "bf16");
  CHECK(m.cache_hint->name == "fp8");
}

TEST_CASE("a scheme beside the configuration counts where the configuration has none") {
  // As hf_quant_config.json of nvidia/Qwen3-235B-A22B-NVFP4.
  const Node beside = parse_json(
      R"({"quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "FP8",
          "exclude_modules": ["lm_head", "model.layers.*.self_attn.q_proj"]}})");
  const ModelSpec m = read_huggingface(
      parse_json(R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2,
                     "num_attention_heads": 4, "intermediate_size": 512, "vocab_size": 1000})"),
      &beside);
  CHECK(format_of(m, "self_attn.q_proj") == "bf16");
  CHECK(format_of(m, "self_attn.k_proj") == "nvfp4");
  CHECK(m.cache_hint->name == "fp8");
}

TEST_CASE("mixed precision without a list of modules is refused") {
  CHECK_THROWS_AS(small_moe(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})"),
                  Error);
  CHECK_THROWS_AS(small_moe(R"({"quant_method": "modelopt", "quant_algo": "INT3_GUESS"})"), Error);
}

TEST_CASE("GPTQ quantises the head where it says so, and single modules otherwise") {
  const ModelSpec m = small_moe(
      R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": true,
          "dynamic": {"+:.*\\.down_proj": {"bits": 8, "group_size": 128},
                      "-:.*\\.v_proj": {}}})");
  CHECK(format_of(m, "self_attn.q_proj") == "int4-g128-zp");
  CHECK(format_of(m, "self_attn.v_proj") == "bf16");
  CHECK(format_of(m, "mlp.experts.*.down_proj") == "int8-g128-zp");
  for (const Weight& w : m.ends)
    if (w.role == Role::head) CHECK(w.format->name == "int4-g128-zp");
}

TEST_CASE("AutoRound leaves modules of sixteen bits alone") {
  const ModelSpec m = small_moe(
      R"({"quant_method": "auto-round", "bits": 2, "group_size": 32, "extra_config": {
            "model.layers.1.self_attn.q_proj": {"bits": 16, "data_type": "float"},
            "model.layers.1.self_attn.k_proj": {"bits": 4, "group_size": 32}}})");
  CHECK(format_of(m, "self_attn.q_proj") == "bf16");
  CHECK(format_of(m, "self_attn.k_proj") == "int4-g32-zp");
  CHECK(format_of(m, "self_attn.o_proj") == "int2-g32-zp");
}

TEST_CASE("bitsandbytes' double quantisation keeps one byte of scale per 64 weights") {
  const auto bytes = [](const std::string& flag) {
    const ModelSpec m = small_moe(
        R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": )" +
        flag + "}");
    const Weight& q = m.layers[1].weights.front();
    return stored_bytes(*q.format, q.rows, q.columns).n;
  };
  CHECK(bytes("false") == 256 * 256 / 2 + 256 * 256 / 64 * 4);
  CHECK(bytes("true") == 256 * 256 / 2 + 256 * 256 / 64);
}

TEST_CASE("what a sparse or unreadable scheme hides is remarked") {
  const auto remarked = [](const std::string& scheme) {
    for (const Warning& w : small_moe(scheme).warnings)
      if (w.code == "quantisation-unclear") return true;
    return false;
  };
  CHECK(remarked(R"({"quant_method": "compressed-tensors", "config_groups": {},
                     "sparsity_config": {"format": "sparse-24-bitmask"}})"));
  CHECK(remarked(R"({"quant_method": "gptq", "dynamic": {"+:(?!gate)x{3}": {"bits": 8}}})"));
  CHECK_FALSE(remarked(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})"));
}
