// SPDX-License-Identifier: Apache-2.0
// Recurrent mixers and compressed caches, from GGUF keys and from config.json.
#include <doctest/doctest.h>

#include <string>

#include "catalog/gguf_models.h"
#include "model/cache.h"

using namespace kvplan;
using namespace kvplan::testing;

TEST_CASE("gated delta nets are the same (Qwen3.5 27B)") {
  check_same(file_of("qwen35", {{"block_count", 65},
                                {"nextn_predict_layers", 1},
                                {"embedding_length", 5120},
                                {"attention.head_count", 24},
                                {"attention.head_count_kv", 4},
                                {"attention.key_length", 256},
                                {"attention.value_length", 256},
                                {"full_attention_interval", 4},
                                {"ssm.conv_kernel", 4},
                                {"ssm.inner_size", 6144},
                                {"ssm.state_size", 128},
                                {"ssm.time_step_rank", 48},
                                {"ssm.group_count", 16}}),
             R"({"model_type": "qwen3_5", "hidden_size": 5120, "num_hidden_layers": 64,
                 "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256,
                 "intermediate_size": 17408, "vocab_size": 248320, "full_attention_interval": 4,
                 "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
                 "linear_num_key_heads": 16, "linear_num_value_heads": 48,
                 "linear_value_head_dim": 128})");
}

TEST_CASE("Mamba-2 blocks are the same (Nemotron-H)") {
  GgufWriter w = file_of("nemotron_h", {{"block_count", 4},
                                        {"embedding_length", 8192},
                                        {"attention.head_count", 64},
                                        {"attention.key_length", 128},
                                        {"attention.value_length", 128},
                                        {"ssm.conv_kernel", 4},
                                        {"ssm.inner_size", 16384},
                                        {"ssm.state_size", 256},
                                        {"ssm.time_step_rank", 256},
                                        {"ssm.group_count", 8}});
  w.i32s("nemotron_h.attention.head_count_kv", {0, 0, 8, 0});
  w.i32s("nemotron_h.feed_forward_length", {0, 32768, 0, 32768});
  check_same(w, R"({"model_type": "nemotron_h", "hidden_size": 8192, "num_hidden_layers": 4,
                    "num_attention_heads": 64, "num_key_value_heads": 8, "attention_head_dim": 128,
                    "intermediate_size": 32768, "vocab_size": 131072, "mamba_num_heads": 256,
                    "mamba_head_dim": 64, "ssm_state_size": 256, "n_groups": 8, "conv_kernel": 4,
                    "hybrid_override_pattern": "M-*-"})");
}

TEST_CASE("Mamba layers between attention are the same (Jamba), and short convolutions (LFM2)") {
  GgufWriter jamba = file_of("jamba", {{"block_count", 16},
                                       {"embedding_length", 4096},
                                       {"attention.head_count", 32},
                                       {"ssm.conv_kernel", 4},
                                       {"ssm.inner_size", 8192},
                                       {"ssm.state_size", 16},
                                       {"ssm.time_step_rank", 256}});
  jamba.i32s("jamba.attention.head_count_kv", repeat({0, 0, 0, 0, 8, 0, 0, 0}, 16));
  check_same(jamba, R"({"model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 16,
                        "num_attention_heads": 32, "num_key_value_heads": 8,
                        "intermediate_size": 14336, "vocab_size": 65536, "attn_layer_period": 8,
                        "attn_layer_offset": 4, "mamba_d_state": 16, "mamba_d_conv": 4,
                        "mamba_expand": 2, "mamba_dt_rank": 256})");
  GgufWriter lfm = file_of("lfm2", {{"block_count", 4},
                                    {"embedding_length", 2048},
                                    {"attention.head_count", 32},
                                    {"shortconv.l_cache", 3}});
  lfm.i32s("lfm2.attention.head_count_kv", {0, 0, 8, 0});
  check_same(lfm, R"({"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 4,
                      "num_attention_heads": 32, "num_key_value_heads": 8,
                      "intermediate_size": 12288, "vocab_size": 65536, "conv_L_cache": 3,
                      "layer_types": ["conv", "conv", "full_attention", "conv"]})");
}

TEST_CASE("Kimi delta attention between latent layers is the same") {
  GgufWriter w = file_of("kimi-linear", {{"block_count", 4},
                                         {"embedding_length", 2304},
                                         {"attention.head_count", 32},
                                         {"attention.key_length", 576},
                                         {"attention.value_length", 512},
                                         {"attention.key_length_mla", 192},
                                         {"attention.value_length_mla", 128},
                                         {"attention.kv_lora_rank", 512},
                                         {"rope.dimension_count", 64},
                                         {"ssm.conv_kernel", 4},
                                         {"kda.head_dim", 128}});
  w.i32s("kimi-linear.attention.head_count_kv", {0, 0, 0, 1});
  check_same(w, R"({"model_type": "kimi_linear", "hidden_size": 2304, "num_hidden_layers": 4,
                    "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 72,
                    "intermediate_size": 9216, "vocab_size": 163840, "kv_lora_rank": 512,
                    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
                    "linear_attn_config": {"num_heads": 32, "head_dim": 128,
                      "short_conv_kernel_size": 4, "kda_layers": [1, 2, 3],
                      "full_attn_layers": [4]}})");
}

TEST_CASE("compressed caches are the same (DeepSeek-V4)") {
  GgufWriter w = file_of("deepseek4", {{"block_count", 4},
                                       {"embedding_length", 4096},
                                       {"attention.head_count", 64},
                                       {"attention.head_count_kv", 1},
                                       {"attention.key_length", 512},
                                       {"attention.value_length", 512},
                                       {"attention.sliding_window", 128},
                                       {"attention.q_lora_rank", 1024},
                                       {"attention.output_lora_rank", 1024},
                                       {"attention.output_group_count", 8},
                                       {"attention.indexer.head_count", 64},
                                       {"attention.indexer.key_length", 128},
                                       {"attention.indexer.top_k", 512},
                                       {"rope.dimension_count", 64},
                                       {"hyper_connection.count", 4}});
  w.i32s("deepseek4.attention.compress_ratios", {0, 0, 4, 128});
  check_same(w, R"({"model_type": "deepseek_v4", "hidden_size": 4096, "num_hidden_layers": 4,
                    "num_attention_heads": 64, "num_key_value_heads": 1, "head_dim": 512,
                    "intermediate_size": 2048, "vocab_size": 129280, "sliding_window": 128,
                    "q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8, "index_topk": 512,
                    "index_n_heads": 64, "index_head_dim": 128, "qk_rope_head_dim": 64,
                    "compress_ratios": [0, 0, 4, 128]})");
}

TEST_CASE("Mamba alone is the same, of either kind") {
  check_same(file_of("mamba", {{"block_count", 64},
                               {"embedding_length", 4096},
                               {"attention.head_count", 0},
                               {"feed_forward_length", 0},
                               {"ssm.conv_kernel", 4},
                               {"ssm.inner_size", 8192},
                               {"ssm.state_size", 16},
                               {"ssm.time_step_rank", 256},
                               {"ssm.dt_b_c_rms", 1}}),
             R"({"model_type": "falcon_mamba", "hidden_size": 4096, "num_hidden_layers": 64,
                 "intermediate_size": 8192, "vocab_size": 65024, "state_size": 16,
                 "conv_kernel": 4, "expand": 2, "time_step_rank": 256})");
  check_same(file_of("mamba2", {{"block_count", 64},
                                {"embedding_length", 4096},
                                {"attention.head_count", 0},
                                {"feed_forward_length", 0},
                                {"ssm.conv_kernel", 4},
                                {"ssm.inner_size", 8192},
                                {"ssm.state_size", 128},
                                {"ssm.time_step_rank", 128},
                                {"ssm.group_count", 8}}),
             R"({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64,
                 "vocab_size": 32768, "state_size": 128, "num_heads": 128, "head_dim": 64,
                 "n_groups": 8, "conv_kernel": 4, "expand": 2})");
}

TEST_CASE(
    "Mamba-2 beside attention is the same, layer by layer (Granite 4) and in one (Falcon-H1)") {
  GgufWriter granite = file_of("granitehybrid", {{"block_count", 6},
                                                 {"embedding_length", 1536},
                                                 {"attention.head_count", 12},
                                                 {"expert_count", 64},
                                                 {"expert_used_count", 6},
                                                 {"expert_shared_feed_forward_length", 1024},
                                                 {"ssm.conv_kernel", 4},
                                                 {"ssm.inner_size", 3072},
                                                 {"ssm.state_size", 128},
                                                 {"ssm.time_step_rank", 48},
                                                 {"ssm.group_count", 1}});
  granite.i32s("granitehybrid.attention.head_count_kv", {0, 0, 0, 0, 0, 4});
  check_same(granite, R"({"model_type": "granitemoehybrid", "hidden_size": 1536,
                          "num_hidden_layers": 6, "num_attention_heads": 12,
                          "num_key_value_heads": 4, "intermediate_size": 512,
                          "shared_intermediate_size": 1024, "num_local_experts": 64,
                          "num_experts_per_tok": 6, "vocab_size": 100352, "mamba_n_heads": 48,
                          "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1,
                          "mamba_d_conv": 4, "layer_types": ["mamba", "mamba", "mamba", "mamba",
                          "mamba", "attention"]})");
  check_same(file_of("falcon-h1", {{"block_count", 44},
                                   {"embedding_length", 3072},
                                   {"attention.head_count", 12},
                                   {"attention.head_count_kv", 2},
                                   {"attention.key_length", 128},
                                   {"attention.value_length", 128},
                                   {"ssm.conv_kernel", 4},
                                   {"ssm.inner_size", 3072},
                                   {"ssm.state_size", 256},
                                   {"ssm.time_step_rank", 24},
                                   {"ssm.group_count", 1}}),
             R"({"model_type": "falcon_h1", "hidden_size": 3072, "num_hidden_layers": 44,
                 "num_attention_heads": 12, "num_key_value_heads": 2, "head_dim": 128,
                 "intermediate_size": 12288, "vocab_size": 130049, "mamba_d_ssm": 3072,
                 "mamba_n_heads": 24, "mamba_d_head": 128, "mamba_d_state": 256,
                 "mamba_n_groups": 1, "mamba_d_conv": 4})");
}

TEST_CASE("blocks of experts between Mamba-2 are the same (Nemotron 3 Nano), and LFM2's experts") {
  GgufWriter w = file_of("nemotron_h_moe", {{"block_count", 6},
                                            {"embedding_length", 2688},
                                            {"attention.head_count", 32},
                                            {"attention.key_length", 128},
                                            {"attention.value_length", 128},
                                            {"expert_count", 128},
                                            {"expert_used_count", 6},
                                            {"expert_shared_count", 1},
                                            {"expert_feed_forward_length", 1856},
                                            {"expert_shared_feed_forward_length", 3712},
                                            {"ssm.conv_kernel", 4},
                                            {"ssm.inner_size", 4096},
                                            {"ssm.state_size", 128},
                                            {"ssm.time_step_rank", 64},
                                            {"ssm.group_count", 8}});
  w.i32s("nemotron_h_moe.attention.head_count_kv", {0, 0, 0, 0, 2, 0});
  w.i32s("nemotron_h_moe.feed_forward_length", {0, 1856, 0, 1856, 0, 1856});
  check_same(w, R"({"model_type": "nemotron_h", "hidden_size": 2688, "num_hidden_layers": 6,
                    "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
                    "intermediate_size": 1856, "vocab_size": 131072,
                    "hybrid_override_pattern": "MEME*E", "mamba_head_dim": 64,
                    "mamba_num_heads": 64, "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4,
                    "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
                    "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 6})");
  GgufWriter lfm = file_of("lfm2moe", {{"block_count", 4},
                                       {"embedding_length", 2048},
                                       {"attention.head_count", 32},
                                       {"leading_dense_block_count", 2},
                                       {"expert_count", 32},
                                       {"expert_used_count", 4},
                                       {"expert_feed_forward_length", 1792},
                                       {"shortconv.l_cache", 3}});
  lfm.i32s("lfm2moe.attention.head_count_kv", {0, 0, 8, 0});
  check_same(lfm, R"({"model_type": "lfm2_moe", "hidden_size": 2048, "num_hidden_layers": 4,
                      "num_attention_heads": 32, "num_key_value_heads": 8,
                      "intermediate_size": 7168, "vocab_size": 65536, "conv_L_cache": 3,
                      "num_dense_layers": 2, "num_experts": 32, "num_experts_per_tok": 4,
                      "moe_intermediate_size": 1792,
                      "layer_types": ["conv", "conv", "full_attention", "conv"]})");
}

// llama_hparams::n_embd_r and n_embd_s (llama.cpp): an RWKV layer keeps a token for each of its
// shifts and a matrix of 64 x 64 for each head; PLaMo 2 convolves its 8192 inputs alone. Rows of 16
// bits, states of 32.
TEST_CASE("states that no configuration describes are as large as llama.cpp makes them") {
  const auto states = [](const GgufWriter& w) {
    const auto groups = cache_groups(read(w), cache_formats("f32"));
    REQUIRE(groups.size() >= 1);
    CHECK(groups[0].kind == CacheGroup::state);
    return state_bytes(groups[0]).n;
  };
  const Keys rwkv = {{"block_count", 2},
                     {"embedding_length", 2048},
                     {"feed_forward_length", 7168},
                     {"attention.head_count", 0},
                     {"wkv.head_size", 64}};
  Keys seven = rwkv, one_shift = rwkv;
  seven.insert(seven.end(), {{"attention.decay_lora_rank", 64},
                             {"attention.iclr_lora_rank", 64},
                             {"attention.value_residual_mix_lora_rank", 32},
                             {"attention.gate_lora_rank", 128}});
  one_shift.insert(
      one_shift.end(),
      {{"token_shift_count", 1}, {"time_mix_extra_dim", 32}, {"time_decay_extra_dim", 64}});
  CHECK(states(file_of("rwkv7", seven)) == 2 * 2048 * 2 + 2048 * 64 * 4);
  CHECK(states(file_of("rwkv6qwen2", one_shift)) == 2048 * 2 + 2048 * 64 * 4);
  GgufWriter plamo = file_of("plamo2", {{"block_count", 2},
                                        {"embedding_length", 4096},
                                        {"attention.head_count", 32},
                                        {"attention.key_length", 128},
                                        {"attention.value_length", 128},
                                        {"ssm.conv_kernel", 4},
                                        {"ssm.inner_size", 8192},
                                        {"ssm.state_size", 64},
                                        {"ssm.time_step_rank", 64},
                                        {"ssm.group_count", 0}});
  plamo.i32s("plamo2.attention.head_count_kv", {0, 4});
  CHECK(states(plamo) == 3 * 8192 * 2 + 64 * 8192 * 4);
}
