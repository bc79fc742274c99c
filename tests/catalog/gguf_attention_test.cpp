// SPDX-License-Identifier: Apache-2.0
// Attention, from GGUF keys and from config.json.
#include <doctest/doctest.h>

#include <string>

#include "catalog/gguf_models.h"

using namespace kvplan;
using namespace kvplan::testing;

TEST_CASE("grouped attention is the same from a GGUF file as from config.json (Llama 3 8B)") {
  check_same(file_of("llama", {{"block_count", 32},
                               {"context_length", 8192},
                               {"embedding_length", 4096},
                               {"feed_forward_length", 14336},
                               {"attention.head_count", 32},
                               {"attention.head_count_kv", 8},
                               {"rope.dimension_count", 128},
                               {"vocab_size", 128256}}),
             R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
                 "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
                 "vocab_size": 128256})");
}

TEST_CASE("windows that llama.cpp knows by heart are the same (Gemma 2, Gemma 3, gpt-oss)") {
  check_same(file_of("gemma2", {{"block_count", 42},
                                {"embedding_length", 3584},
                                {"attention.head_count", 16},
                                {"attention.head_count_kv", 8},
                                {"attention.key_length", 256},
                                {"attention.value_length", 256},
                                {"attention.sliding_window", 4096}}),
             R"({"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42,
                 "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
                 "intermediate_size": 14336, "vocab_size": 256000, "sliding_window": 4096})");
  check_same(file_of("gemma3", {{"block_count", 62},
                                {"embedding_length", 5376},
                                {"attention.head_count", 32},
                                {"attention.head_count_kv", 16},
                                {"attention.key_length", 128},
                                {"attention.value_length", 128},
                                {"attention.sliding_window", 1024}}),
             R"({"model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62,
                 "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
                 "intermediate_size": 21504, "vocab_size": 262208, "sliding_window": 1024,
                 "sliding_window_pattern": 6})");
  check_same(file_of("gpt-oss", {{"block_count", 36},
                                 {"embedding_length", 2880},
                                 {"attention.head_count", 64},
                                 {"attention.head_count_kv", 8},
                                 {"attention.key_length", 64},
                                 {"attention.value_length", 64},
                                 {"attention.sliding_window", 128},
                                 {"expert_count", 128},
                                 {"expert_used_count", 4},
                                 {"expert_feed_forward_length", 2880}}),
             R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36,
                 "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
                 "intermediate_size": 2880, "vocab_size": 201088, "sliding_window": 128,
                 "num_local_experts": 128, "num_experts_per_tok": 4, "layer_types": )" +
                 layer_types({1, 0}, 36) + "}");
}

TEST_CASE("chunks are the same (Llama 4 Scout)") {
  check_same(file_of("llama4", {{"block_count", 48},
                                {"embedding_length", 5120},
                                {"attention.head_count", 40},
                                {"attention.head_count_kv", 8},
                                {"attention.key_length", 128},
                                {"attention.value_length", 128},
                                {"interleave_moe_layer_step", 1},
                                {"expert_count", 16},
                                {"expert_used_count", 1}}),
             R"({"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48,
                 "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
                 "intermediate_size": 8192, "vocab_size": 202048, "attention_chunk_size": 8192,
                 "no_rope_layers": [], "num_local_experts": 16, "num_experts_per_tok": 1,
                 "interleave_moe_layer_step": 1})");
}

TEST_CASE("latent attention is the same, in old files and new (DeepSeek-V3)") {
  const std::string config =
      R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
          "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
          "vocab_size": 129280, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
          "qk_rope_head_dim": 64, "v_head_dim": 128})";
  const Keys common = {{"block_count", 61},
                       {"embedding_length", 7168},
                       {"attention.head_count", 128},
                       {"attention.q_lora_rank", 1536},
                       {"attention.kv_lora_rank", 512},
                       {"rope.dimension_count", 64},
                       {"leading_dense_block_count", 3},
                       {"expert_count", 256},
                       {"expert_used_count", 8},
                       {"expert_shared_count", 1},
                       {"expert_group_count", 8}};
  Keys old = common, recent = common;
  old.insert(old.end(), {{"attention.head_count_kv", 128},
                         {"attention.key_length", 192},
                         {"attention.value_length", 128}});
  recent.insert(recent.end(), {{"attention.head_count_kv", 1},
                               {"attention.key_length", 576},
                               {"attention.value_length", 512},
                               {"attention.key_length_mla", 192},
                               {"attention.value_length_mla", 128}});
  check_same(file_of("deepseek2", old), config);
  check_same(file_of("deepseek2", recent), config);
}

TEST_CASE("an indexer's keys are the same, owned by the layers that store one (GLM-5.2)") {
  GgufWriter w = file_of("glm-dsa", {{"block_count", 4},
                                     {"embedding_length", 6144},
                                     {"attention.head_count", 64},
                                     {"attention.head_count_kv", 1},
                                     {"attention.key_length", 576},
                                     {"attention.value_length", 512},
                                     {"attention.key_length_mla", 256},
                                     {"attention.value_length_mla", 256},
                                     {"attention.q_lora_rank", 2048},
                                     {"attention.kv_lora_rank", 512},
                                     {"rope.dimension_count", 64},
                                     {"attention.indexer.head_count", 32},
                                     {"attention.indexer.key_length", 128},
                                     {"attention.indexer.top_k", 2048}});
  for (const char* layer : {"0", "1", "2"})
    w.tensor("blk." + std::string(layer) + ".indexer.attn_k.weight", {32, 128}, 1, 8192);
  w.tensor("blk.3.attn_norm.weight", {32}, 0, 128);
  check_same(w, R"({"model_type": "glm_moe_dsa", "hidden_size": 6144, "num_hidden_layers": 4,
                    "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 12288,
                    "vocab_size": 154880, "kv_lora_rank": 512, "q_lora_rank": 2048,
                    "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
                    "index_topk": 2048, "index_n_heads": 32, "index_head_dim": 128,
                    "indexer_types": ["full", "full", "full", "shared"]})");
}

TEST_CASE("heads and widths by layer are the same (Gemma 4 26B, MiMo-V2)") {
  GgufWriter gemma = file_of("gemma4", {{"block_count", 30},
                                        {"embedding_length", 2816},
                                        {"attention.head_count", 16},
                                        {"attention.key_length", 512},
                                        {"attention.value_length", 512},
                                        {"attention.key_length_swa", 256},
                                        {"attention.value_length_swa", 256},
                                        {"attention.sliding_window", 1024},
                                        {"attention.shared_kv_layers", 0},
                                        {"embedding_length_per_layer_input", 0},
                                        {"expert_count", 128},
                                        {"expert_used_count", 8}});
  gemma.i32s("gemma4.attention.head_count_kv", repeat({8, 8, 8, 8, 8, 2}, 30));
  gemma.booleans("gemma4.attention.sliding_window_pattern", repeat({1, 1, 1, 1, 1, 0}, 30));
  check_same(gemma, R"({"model_type": "gemma4", "hidden_size": 2816, "num_hidden_layers": 30,
                        "num_attention_heads": 16, "num_key_value_heads": 8,
                        "num_global_key_value_heads": 2, "head_dim": 256, "global_head_dim": 512,
                        "intermediate_size": 2112, "vocab_size": 262144, "sliding_window": 1024,
                        "attention_k_eq_v": true, "layer_types": )" +
                        layer_types({1, 1, 1, 1, 1, 0}, 30) + "}");

  GgufWriter mimo = file_of("mimo2", {{"block_count", 12},
                                      {"embedding_length", 4096},
                                      {"attention.head_count", 64},
                                      {"attention.key_length", 192},
                                      {"attention.value_length", 128},
                                      {"attention.sliding_window", 128}});
  mimo.i32s("mimo2.attention.head_count_kv", repeat({4, 8, 8, 8, 8, 4}, 12));
  mimo.i32s("mimo2.attention.sliding_window_pattern", repeat({0, 1, 1, 1, 1, 0}, 12));
  check_same(mimo, R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "num_hidden_layers": 12,
                       "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192,
                       "v_head_dim": 128, "intermediate_size": 16384, "vocab_size": 152576,
                       "sliding_window": 128, "swa_num_attention_heads": 64,
                       "swa_num_key_value_heads": 8, "swa_head_dim": 192, "swa_v_head_dim": 128,
                       "hybrid_layer_pattern": [0,1,1,1,1,0,0,1,1,1,1,0]})");
}

TEST_CASE("layers that share caches are the same (Gemma 3n leaves 20 of 35)") {
  GgufWriter w = file_of("gemma3n", {{"block_count", 35},
                                     {"embedding_length", 2048},
                                     {"attention.head_count", 8},
                                     {"attention.head_count_kv", 2},
                                     {"attention.key_length", 256},
                                     {"attention.value_length", 256},
                                     {"attention.sliding_window", 512},
                                     {"altup.num_inputs", 4}});
  check_same(w, R"({"model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 35,
                    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
                    "intermediate_size": 16384, "vocab_size": 262400, "sliding_window": 512,
                    "laurel_rank": 64, "altup_num_inputs": 4, "hidden_size_per_layer_input": 256,
                    "vocab_size_per_layer_input": 262144, "num_kv_shared_layers": 15,
                    "layer_types": )" +
                    layer_types({1, 1, 1, 1, 0}, 35) + "}");
}

TEST_CASE("layers without attention are the same (Nemotron-NAS)") {
  GgufWriter w = file_of("deci", {{"block_count", 4}, {"embedding_length", 8192}});
  w.i32s("deci.attention.head_count", {64, 0, 64, 0});
  w.i32s("deci.attention.head_count_kv", {8, 0, 4, 0});
  w.i32s("deci.feed_forward_length", {28672, 28672, 14336, 0});
  check_same(w, R"({"model_type": "nemotron-nas", "hidden_size": 8192, "num_hidden_layers": 4,
                    "num_attention_heads": 64, "vocab_size": 128256, "block_configs": [
                      {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 5.25}},
                      {"attention": {"no_op": true}, "ffn": {"ffn_mult": 5.25}},
                      {"attention": {"n_heads_in_group": 16}, "ffn": {"ffn_mult": 2.625}},
                      {"attention": {"no_op": true}, "ffn": {"no_op": true}}]})");
}

TEST_CASE("a diffusion model is the same (LLaDA), though its past is not its cache") {
  check_caches(file_of("llada", {{"block_count", 32},
                                 {"embedding_length", 4096},
                                 {"attention.head_count", 32},
                                 {"attention.head_count_kv", 32}}),
               R"({"model_type": "llada", "d_model": 4096, "n_layers": 32, "n_heads": 32,
                   "n_kv_heads": 32, "mlp_hidden_size": 12288, "vocab_size": 126464})");
}

TEST_CASE(
    "a file from before latents were cut says what it costs, families that never are do not") {
  const auto warnings = [](const std::string& architecture, const std::string& tensor) {
    GgufWriter w = file_of(architecture, {{"block_count", 1},
                                          {"embedding_length", 2048},
                                          {"attention.head_count", 16},
                                          {"attention.key_length", 192},
                                          {"attention.value_length", 128},
                                          {"attention.kv_lora_rank", 512},
                                          {"rope.dimension_count", 64}});
    w.tensor("blk.0." + tensor + ".weight", {512, 4096}, 8, 512 * 4096 / 32 * 34);
    return read(w).warnings;
  };
  REQUIRE(warnings("deepseek2", "attn_kv_b").size() == 1);
  CHECK(warnings("deepseek2", "attn_kv_b")[0].code == "old-latents");
  CHECK(warnings("deepseek2", "attn_v_b").empty());
  CHECK(warnings("minicpm3", "attn_kv_b").empty());
}

TEST_CASE("heads that widen from layer to layer are the same (OpenELM)") {
  GgufWriter w = file_of("openelm", {{"block_count", 3},
                                     {"embedding_length", 1280},
                                     {"attention.key_length", 64},
                                     {"attention.value_length", 64}});
  w.i32s("openelm.attention.head_count", {12, 16, 20});
  w.i32s("openelm.attention.head_count_kv", {3, 4, 5});
  w.i32s("openelm.feed_forward_length", {768, 2560, 5120});
  check_caches(w, R"({"model_type": "openelm", "model_dim": 1280, "num_transformer_layers": 3,
                      "head_dim": 64, "num_query_heads": [12, 16, 20], "num_kv_heads": [3, 4, 5],
                      "ffn_multipliers": [0.5, 2.0, 4.0], "vocab_size": 32000})");
}
