// SPDX-License-Identifier: Apache-2.0
// What fuzzing found worth keeping, replayed; and small files cut at every byte and with every bit
// turned.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catalog/gguf_models.h"
#include "catalog/safetensors_writer.h"
#include "error.h"
#include "fuzz/targets.h"

using namespace kvplan;
using namespace kvplan::testing;

namespace {

// Whether the target took the bytes. Anything but an Error fails the test.
bool takes(const fuzz::Target& target, std::string_view bytes) {
  try {
    target.run(bytes);
  } catch (const Error& e) {
    CHECK(std::string_view(e.what()) != "");
    return false;
  }
  return true;
}

const fuzz::Target& target_named(std::string_view name) {
  for (const fuzz::Target& target : fuzz::targets())
    if (target.name == name) return target;
  throw std::logic_error("no such target");
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string small_gguf() {
  GgufWriter w = file_of("llama", {{"block_count", 1},
                                   {"embedding_length", 32},
                                   {"attention.head_count", 2},
                                   {"expert_count", 2},
                                   {"expert_used_count", 1}});
  w.i32s("llama.attention.head_count_kv", {1}).texts("tokenizer.ggml.tokens", 2, "a");
  return w.tensor("blk.0.ffn_up_exps.weight", {32, 2, 2}, 2, 4 * 18), w.file();
}

std::string small_safetensors() {
  SafetensorsWriter w;
  w.u8("model.layers.1.self_attn.q_proj.weight", {2, 8});
  w.f8("model.layers.1.self_attn.q_proj.weight_scale", {2, 1});
  w.f32("model.layers.1.self_attn.q_proj.weight_scale_2", {}).bf16("lm_head.weight", {2, 2});
  return w.file();
}

const std::string kConfig =
    R"({"model_type": "qwen3_moe", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 99,
 "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96,
 "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "sliding_window": null,
 "mlp_only_layers": [0], "quantization_config": {"quant_method": "fp8",
 "weight_block_size": [128, 128]}, "tie_word_embeddings": false})";
const std::string kEntry =
    "name: x\nconfig: {model_type: llama, hidden_size: 64, num_hidden_layers: 1,\n"
    "  num_attention_heads: 4, intermediate_size: 96, vocab_size: 100}\nweights:\n  layers:\n"
    "    - at: [0]\n      tensors: [{name: mlp.up_proj, shape: [96, 64], format: q4_0}]\n"
    "  ends: []\n  remarks: [{code: a, message: \"b: c\"}]\n";

struct Sample {
  std::string_view target;
  std::string bytes;
};

std::vector<Sample> samples() {
  return {
      {"json", kConfig},
      {"yaml", kEntry},
      {"huggingface", kConfig},
      {"gguf", small_gguf()},
      {"safetensors", small_safetensors()},
      {"safetensors", R"({"metadata": {"total_size": 8}, "weight_map": {"a": "b", "c": "b"}})"}};
}

}  // namespace

TEST_CASE("inputs that fuzzing kept are answered or refused") {
  for (const fuzz::Target& target : fuzz::targets()) {
    std::size_t files = 0;
    const std::filesystem::path folder =
        std::filesystem::path(KVPLAN_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      CAPTURE(entry.path().string());
      CHECK_NOTHROW(takes(target, contents(entry.path())));
      ++files;
    }
    CHECK(files > 0);
  }
}

TEST_CASE("a file that is cut anywhere is refused, or was whole before its end") {
  for (const Sample& sample : samples()) {
    const fuzz::Target& target = target_named(sample.target);
    CAPTURE(sample.target);
    CHECK(takes(target, sample.bytes));
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      CAPTURE(size);
      const bool binary = sample.bytes[0] != '{' && sample.target != "yaml";
      const bool taken = takes(target, std::string_view(sample.bytes).substr(0, size));
      if (binary) CHECK_FALSE(taken);
    }
  }
}

// Every bit of binary files, one of every eighth byte of texts.
TEST_CASE("a file with a bit turned is answered or refused") {
  for (const Sample& sample : samples()) {
    const fuzz::Target& target = target_named(sample.target);
    const bool text = sample.target != "gguf" && sample.target != "safetensors";
    std::string bytes = sample.bytes;
    for (std::size_t i = 0; i < bytes.size(); i += text ? 8 : 1)
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if (text && bit != i / 8 % 8) continue;
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
        CHECK_NOTHROW(takes(target, bytes));
        bytes[i] = sample.bytes[i];
      }
  }
}
