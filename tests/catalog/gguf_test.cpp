// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catalog/gguf_writer.h"
#include "catalog/huggingface.h"
#include "catalog/scratch.h"
#include "model/cache.h"
#include "model/parameters.h"

using namespace kvplan;
using testing::GgufWriter;
using testing::Scratch;

namespace {

// Everything of a cache that memory depends on, as text.
std::string described(const ModelSpec& model) {
  std::string out;
  for (const CacheGroup& g : cache_groups(model, cache_formats("bf16"), true)) {
    out += std::to_string(g.kind) + " law " + std::to_string(g.law.index());
    if (const auto* w = std::get_if<Window>(&g.law)) out += "/" + std::to_string(w->size.n);
    if (const auto* c = std::get_if<Chunk>(&g.law)) out += "/" + std::to_string(c->size.n);
    if (const auto* c = std::get_if<Compressed>(&g.law)) out += "/" + std::to_string(c->ratio);
    for (const Part& p : g.entry)
      out += " " + std::to_string(p.role) + ":" + std::to_string(p.heads) + "x" +
             std::to_string(p.width) + (p.replicated ? "r" : "");
    out += " state " + std::to_string(state_bytes(g).n);
    out += " limit " + std::to_string(g.read_limit.value_or(-1)) + " layers";
    for (const int i : g.layers) out += " " + std::to_string(i);
    out += " readers";
    for (const int i : g.readers) out += " " + std::to_string(i);
    out += "\n";
  }
  return out;
}

GgufWriter file_of(const std::string& architecture) {
  GgufWriter w;
  w.text("general.architecture", architecture).tensor("token_embd.weight", {32, 4}, 8, 4 * 34);
  return w;
}

using Keys = std::vector<std::pair<std::string, std::uint32_t>>;
GgufWriter file_of(const std::string& architecture, const Keys& keys) {
  GgufWriter w = file_of(architecture);
  for (const auto& [key, value] : keys) w.u32(architecture + "." + key, value);
  return w;
}

ModelSpec read(const GgufWriter& writer) {
  const Scratch scratch;
  return read_gguf(scratch.write("model.gguf", writer.file()));
}

std::string refusal(const GgufWriter& writer) {
  try {
    read(writer);
  } catch (const Error& e) {
    return e.key + ": " + e.what();
  }
  return "none";
}

std::vector<std::int32_t> repeat(const std::vector<std::int32_t>& pattern, std::size_t count) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(pattern[i % pattern.size()]);
  return out;
}

// The same model from its GGUF keys and from its config.json: equal caches, nothing left unread.
void check_same(const GgufWriter& gguf, const std::string& config) {
  const ModelSpec from_gguf = read(gguf);
  ModelSpec from_config = read_huggingface(parse_json(config));
  std::erase_if(from_config.layers, [](const Layer& l) { return l.role == Layer::mtp; });
  CHECK(described(from_gguf) == described(from_config));
  CHECK(described(from_gguf) != "");
  for (const Warning& w : from_gguf.warnings) {
    CAPTURE(w.message);
    CHECK(w.code == "mtp-not-stored");
  }
}

}  // namespace

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
  check_same(
      file_of("gpt-oss", {{"block_count", 36},
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
                 "num_local_experts": 128, "num_experts_per_tok": 4, "layer_types": [)" +
          [] {
            std::string types;
            for (int i = 0; i < 36; ++i)
              types += std::string(i ? "," : "") +
                       (i % 2 ? "\"full_attention\"" : "\"sliding_attention\"");
            return types;
          }() +
          "]}");
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
  std::string types;
  for (int i = 0; i < 30; ++i)
    types +=
        std::string(i ? "," : "") + (i % 6 == 5 ? "\"full_attention\"" : "\"sliding_attention\"");
  check_same(gemma, R"({"model_type": "gemma4", "hidden_size": 2816, "num_hidden_layers": 30,
                        "num_attention_heads": 16, "num_key_value_heads": 8,
                        "num_global_key_value_heads": 2, "head_dim": 256, "global_head_dim": 512,
                        "intermediate_size": 2112, "vocab_size": 262144, "sliding_window": 1024,
                        "attention_k_eq_v": true, "layer_types": [)" +
                        types + "]}");

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
  const std::vector<std::int32_t> pattern = repeat({1, 1, 1, 1, 0}, 35);
  GgufWriter w = file_of("gemma3n", {{"block_count", 35},
                                     {"embedding_length", 2048},
                                     {"attention.head_count", 8},
                                     {"attention.head_count_kv", 2},
                                     {"attention.key_length", 256},
                                     {"attention.value_length", 256},
                                     {"attention.sliding_window", 512},
                                     {"altup.num_inputs", 4}});
  std::string types;
  for (int i = 0; i < 35; ++i)
    types +=
        std::string(i ? "," : "") + (i % 5 == 4 ? "\"full_attention\"" : "\"sliding_attention\"");
  check_same(w, R"({"model_type": "gemma4", "hidden_size": 2048, "num_hidden_layers": 35,
                    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
                    "intermediate_size": 16384, "vocab_size": 262400, "sliding_window": 512,
                    "num_kv_shared_layers": 15, "layer_types": [)" +
                    types + "]}");
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

TEST_CASE("an unknown architecture is read where all of its keys are understood") {
  const Keys plain = {{"block_count", 2},
                      {"embedding_length", 256},
                      {"attention.head_count", 8},
                      {"attention.head_count_kv", 2}};
  const ModelSpec model = read(file_of("brandnew", plain));
  CHECK(model.model_type == "brandnew");
  CHECK(std::get<Attention>(model.layers[0].mixer.kind).kv_heads == 2);
  const auto with = [&](const std::string& key) {
    Keys keys = plain;
    keys.emplace_back(key, 4);
    return refusal(file_of("brandnew", keys));
  };
  CHECK(with("attention.sliding_window").starts_with("attention.sliding_window: "));
  CHECK(with("ssm.conv_kernel").starts_with("brandnew.ssm.conv_kernel: "));
  CHECK(with("attention.shared_kv_layers").starts_with("brandnew.attention.shared_kv_layers: "));
  CHECK(with("wkv.head_size").starts_with("brandnew.wkv.head_size: "));
  CHECK(with("rope.dimension_count") == "none");
  CHECK(with("expert_shared_count") == "none");
}

TEST_CASE("files that are no decoder are refused by what they are") {
  CHECK(refusal(file_of("clip")).starts_with("general.type: "));
  CHECK(refusal(GgufWriter().u32("a", 1)).starts_with("general.architecture: "));
  GgufWriter adapter = file_of("llama");
  adapter.text("general.type", "adapter");
  CHECK(refusal(adapter).find("adapter") != std::string::npos);
  GgufWriter bert = file_of("bert", {{"block_count", 2}, {"embedding_length", 8}});
  bert.boolean("bert.attention.causal", false);
  CHECK(refusal(bert).starts_with("attention.causal: "));
}

TEST_CASE("absurd metadata is refused by its key") {
  const auto with = [](const Keys& keys) { return refusal(file_of("llama", keys)); };
  const Keys good = {{"block_count", 2}, {"embedding_length", 64}, {"attention.head_count", 4}};
  CHECK(with(good) == "none");
  CHECK(with({{"embedding_length", 64}}).starts_with("block_count: "));
  CHECK(with({{"block_count", 4'000'000'000}}).starts_with("block_count: "));
  CHECK(with({{"block_count", 2},
              {"embedding_length", 64},
              {"attention.head_count", 4},
              {"attention.head_count_kv", 3}})
            .find("KV heads") != std::string::npos);
  CHECK(with({{"block_count", 2},
              {"embedding_length", 64},
              {"attention.head_count", 4},
              {"expert_count", 2},
              {"expert_used_count", 3}})
            .starts_with("expert_used_count: "));
  GgufWriter list = file_of("llama", {{"block_count", 3}, {"embedding_length", 64}});
  list.i32s("llama.attention.head_count", {4, 4});
  CHECK(refusal(list).starts_with("attention.head_count: "));
  GgufWriter huge = file_of("llama", {{"embedding_length", 64}});
  huge.u64("llama.block_count", std::uint64_t{1} << 63);
  CHECK(refusal(huge).starts_with("block_count: "));
}
