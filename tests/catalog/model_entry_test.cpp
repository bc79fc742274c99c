// SPDX-License-Identifier: Apache-2.0
// Catalog entries that are made from files read back to what the files are. GGUF: gguf_models.cpp.
#include "catalog/model_entry.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "catalog/catalog.h"
#include "catalog/huggingface.h"
#include "catalog/model_file.h"
#include "catalog/safetensors_writer.h"
#include "catalog/scratch.h"
#include "catalog/spec_text.h"
#include "catalog/yaml_writer.h"

using namespace kvplan;
using namespace kvplan::testing;

namespace {

// A small model of two layers and a prediction layer, experts of 4 bits in the second.
const std::string kConfig =
    R"({"model_type": "deepseek_v3", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100,
        "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128,
        "moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "n_shared_experts": 1, "first_k_dense_replace": 1, "kv_lora_rank": 32, "q_lora_rank": 48,
        "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "bos_token_id": 0,
        "rope_theta": 10000, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";

void add_layer(SafetensorsWriter& w, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  w.bf16(prefix + "input_layernorm.weight", {64});
  w.bf16(prefix + "self_attn.q_a_proj.weight", {48, 64});
  w.f8(prefix + "self_attn.o_proj.weight", {64, 64});
  w.f32(prefix + "self_attn.o_proj.weight_scale", {64, 1}).f32(prefix + "odd", {3});
  if (layer == 0) return;
  for (const char* e : {"0", "1", "2", "3"})
    w.u8(prefix + "mlp.experts." + e + ".up_proj.weight", {32, 32})
        .f8(prefix + "mlp.experts." + e + ".up_proj.weight_scale", {32, 4})
        .f32(prefix + "mlp.experts." + e + ".up_proj.weight_scale_2", {})
        .f32(prefix + "mlp.experts." + e + ".up_proj.input_scale", {});
}

SafetensorsWriter checkpoint() {
  SafetensorsWriter w;
  w.bf16("model.embed_tokens.weight", {100, 64}).bf16("lm_head.weight", {100, 64});
  for (int layer = 0; layer < 3; ++layer) add_layer(w, layer);
  w.bf16("vision_tower.blocks.0.attn.qkv.weight", {8, 8});
  return w;
}

void check_back(const std::string& path) {
  const std::string yaml = to_yaml(model_entry(path).file);
  CAPTURE(yaml);
  const ModelSpec read = read_model_at(path), back = read_model(parse_yaml(yaml));
  CHECK(spec_text(back) == spec_text(read));
  CHECK(back.name == read.name);
}

}  // namespace

TEST_CASE("configurations of the catalog are the same models without the keys that do not count") {
  const Catalog catalog;
  std::set<std::string> seen;
  std::size_t dropped = 0;
  for (const CatalogEntry& entry : catalog.entries("models")) {
    CAPTURE(entry.name);
    const Node file = parse_yaml(entry.text);
    const Node *config = file.find("config"), *quantization = file.find("quantization");
    REQUIRE(config);
    const Node* quantised = quantization ? quantization : config->find("quantization_config");
    if (!seen.insert(config->find("model_type")->text + (quantised ? " quantised" : "")).second)
      continue;
    Node whole = *config;
    put(whole, "bos_token_id", whole_number(1));
    put(whole, "architectures", list({word("AnyForCausalLM")}));
    const Node kept = keys_that_count(whole, quantization);
    const Node back = parse_yaml(to_yaml(kept));
    CHECK(spec_text(read_huggingface(back, quantization)) ==
          spec_text(read_huggingface(*config, quantization)));
    dropped += whole.members.size() - kept.members.size();
    CHECK_FALSE(kept.find("bos_token_id"));
    CHECK_FALSE(kept.find("architectures"));
  }
  CHECK(seen.size() > 50);
  CHECK(dropped >= 2 * seen.size());
}

TEST_CASE("a configuration and its hf_quant_config.json read back to the same model") {
  const Scratch scratch;
  const std::string path = scratch.write("config.json", kConfig);
  check_back(path);
  check_back(scratch.folder());
  CHECK_FALSE(model_entry(path).file.find("quantization"));
  scratch.write("hf_quant_config.json",
                R"({"quantization": {"quant_algo": "NVFP4", "group_size": 16,
                    "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head", "*q_a_proj"]}})");
  check_back(path);
  CHECK(read_model(model_entry(path).file).cache_hint->name == "fp8");
}

TEST_CASE("a checkpoint reads back with its formats, its prediction layer and its remarks") {
  const Scratch scratch;
  scratch.write("config.json", kConfig);
  const std::string path = scratch.write("model.safetensors", checkpoint().file());
  check_back(path);
  check_back(scratch.folder() + "/");
  const ModelEntry entry = model_entry(path);
  CHECK(entry.warnings.size() >= 4);  // unknown tensors, layers, ends or tower, prediction layers
  CHECK(read_model(entry.file).layers.size() == 3);
}

TEST_CASE("with shards missing the entry has the configuration's weights") {
  const Scratch scratch;
  scratch.write("config.json", kConfig);
  scratch.write("model-00001-of-00002.safetensors", checkpoint().file());
  const ModelEntry entry = model_entry(scratch.folder());
  CHECK_FALSE(entry.file.find("weights"));
  REQUIRE(entry.warnings.size() == 1);
  CHECK(entry.warnings[0].code == "missing-shards");
}

TEST_CASE("a broken weights part is refused by its key and line") {
  const auto refusal = [](const std::string& tensor, const std::string& at = "[0]") {
    const std::string file =
        "name: x\nconfig: {model_type: llama, hidden_size: 64, num_hidden_layers: 1,\n"
        "  num_attention_heads: 4, intermediate_size: 96, vocab_size: 100}\n"
        "weights:\n  layers:\n    - at: " +
        at + "\n      tensors: [" + tensor + "]\n";
    try {
      (void)read_model(parse_yaml(file));
    } catch (const Error& e) {
      return e.key + ":" + std::to_string(e.line);
    }
    return std::string("none");
  };
  const std::string good = "{name: mlp.up_proj, shape: [96, 64], format: bf16}";
  CHECK(refusal(good) == "none");
  CHECK(refusal("{name: mystery, shape: [1], format: bf16}") == "name:7");
  CHECK(refusal("{name: norm, shape: [1], format: bf17}") == "format:7");
  CHECK(refusal("{name: norm, shape: [], format: bf16}") == "shape:7");
  CHECK(refusal("{name: norm, shape: [-1], format: bf16}") == "shape:7");
  CHECK(refusal("{name: norm, shape: [1], format: bf16, role: king}") == "role:7");
  CHECK(refusal("{name: norm, shape: [1], format: bf16, sharding: torn}") == "sharding:7");
  CHECK(refusal("{name: norm, shape: [1], format: bf16, copies: 1, active: 2}") == "active:7");
  CHECK(refusal("{name: norm, shape: [1], format: bf16, colour: red}") == "colour:7");
  CHECK(refusal(good, "[1-0]") == "at:6");
  CHECK(refusal(good, "[0-99999999999]") == "at:6");
  CHECK(refusal(good, "[x]") == "at:6");
  CHECK(refusal(good, "[0-0, 0]") == "at:6");
}

TEST_CASE("an entry is not imported again, and a path that is no model is refused") {
  const Scratch scratch;
  const std::string entry = scratch.write("m.yaml", "name: x\nconfig: {model_type: llama}\n");
  CHECK_THROWS_AS(model_entry(entry), Error);
  CHECK_THROWS_AS(model_entry(scratch.folder()), Error);
}
