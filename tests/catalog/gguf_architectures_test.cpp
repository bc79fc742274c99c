// SPDX-License-Identifier: Apache-2.0
// Every architecture that llama.cpp knows is read, or refused by its name.
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "catalog/gguf/architecture.h"
#include "catalog/gguf_models.h"
#include "catalog/huggingface.h"
#include "catalog/spec_text.h"
#include "error.h"
#include "word_list.h"

using namespace kvplan;
using namespace kvplan::testing;

namespace {

// LLM_ARCH_NAMES of src/llama-arch.cpp, ggml-org/llama.cpp at 00395eb (2026), and of the newer ones
// at 0c1e570 those that their keys alone do not describe.
constexpr const char* kLlamaCpp[] = {"clip",
                                     "llama",
                                     "llama4",
                                     "deci",
                                     "falcon",
                                     "grok",
                                     "gpt2",
                                     "gptj",
                                     "gptneox",
                                     "mpt",
                                     "baichuan",
                                     "starcoder",
                                     "refact",
                                     "bert",
                                     "modern-bert",
                                     "nomic-bert",
                                     "nomic-bert-moe",
                                     "neo-bert",
                                     "jina-bert-v2",
                                     "jina-bert-v3",
                                     "eurobert",
                                     "bloom",
                                     "stablelm",
                                     "qwen",
                                     "qwen2",
                                     "qwen2moe",
                                     "qwen2vl",
                                     "qwen3",
                                     "qwen3moe",
                                     "qwen3next",
                                     "qwen3vl",
                                     "qwen3vlmoe",
                                     "qwen35",
                                     "qwen35moe",
                                     "phi2",
                                     "phi3",
                                     "phimoe",
                                     "plamo",
                                     "plamo2",
                                     "plamo3",
                                     "codeshell",
                                     "orion",
                                     "internlm2",
                                     "minicpm",
                                     "minicpm3",
                                     "gemma",
                                     "gemma2",
                                     "gemma3",
                                     "gemma3n",
                                     "gemma4",
                                     "gemma4-assistant",
                                     "gemma-embedding",
                                     "starcoder2",
                                     "mamba",
                                     "mamba2",
                                     "jamba",
                                     "falcon-h1",
                                     "xverse",
                                     "command-r",
                                     "cohere2",
                                     "cohere2moe",
                                     "dbrx",
                                     "olmo",
                                     "olmo2",
                                     "olmoe",
                                     "openelm",
                                     "arctic",
                                     "deepseek",
                                     "deepseek2",
                                     "deepseek2-ocr",
                                     "deepseek32",
                                     "deepseek4",
                                     "chatglm",
                                     "glm4",
                                     "glm4moe",
                                     "glm-dsa",
                                     "bitnet",
                                     "t5",
                                     "t5encoder",
                                     "jais",
                                     "jais2",
                                     "nemotron",
                                     "nemotron_h",
                                     "nemotron_h_moe",
                                     "exaone",
                                     "exaone4",
                                     "exaone-moe",
                                     "rwkv6",
                                     "rwkv6qwen2",
                                     "rwkv7",
                                     "arwkv7",
                                     "granite",
                                     "granitemoe",
                                     "granitehybrid",
                                     "chameleon",
                                     "wavtokenizer-dec",
                                     "plm",
                                     "bailingmoe",
                                     "bailingmoe2",
                                     "dots1",
                                     "arcee",
                                     "afmoe",
                                     "laguna",
                                     "ernie4_5",
                                     "ernie4_5-moe",
                                     "hunyuan-moe",
                                     "hunyuan-dense",
                                     "hunyuan_vl",
                                     "hy_v3",
                                     "smollm3",
                                     "gpt-oss",
                                     "lfm2",
                                     "lfm2moe",
                                     "dream",
                                     "smallthinker",
                                     "llada",
                                     "llada-moe",
                                     "seed_oss",
                                     "grovemoe",
                                     "apertus",
                                     "minimax-m2",
                                     "cogvlm",
                                     "rnd1",
                                     "pangu-embedded",
                                     "mistral3",
                                     "eagle3",
                                     "dflash",
                                     "mistral4",
                                     "paddleocr",
                                     "mimo2",
                                     "step35",
                                     "llama-embed",
                                     "maincoder",
                                     "kimi-linear",
                                     "talkie",
                                     "mellum",
                                     "bailingmoe3",
                                     "kimi-k3"};

}  // namespace

TEST_CASE("every architecture of llama.cpp is known, or refused by its name with what to do") {
  for (const char* name : kLlamaCpp) {
    CAPTURE(name);
    const bool known = gguf::find_architecture(name) != nullptr;
    CHECK(known != (gguf::find_refusal(name) != nullptr));
    if (known) continue;
    try {
      (void)read(file_of(name));
      FAIL("read");
    } catch (const Error& e) {
      CHECK(e.key == "general.architecture");
      CHECK(std::string(e.what()).find(name) != std::string::npos);
      CHECK(e.advice != "");
    }
  }
}

namespace {

// Rows whose layers need keys of their own: gguf_attention_test.cpp, gguf_state_test.cpp and
// gguf_encoder_test.cpp compare these.
constexpr std::string_view kByThemselves =
    "deci deepseek4 gemma3n gemma4 llada llama4 mimo2 openelm t5";

// One of these is a configuration of the family; which, depends on its experts.
constexpr const char* kExperts[] = {
    R"("tie_word_embeddings": true)",
    R"("tie_word_embeddings": true, "num_experts": 4, "num_experts_per_tok": 2,
       "moe_intermediate_size": 64)",
    R"("tie_word_embeddings": true, "num_local_experts": 4, "num_experts_per_tok": 2)",
    R"("tie_word_embeddings": true, "n_routed_experts": 4, "num_experts_per_tok": 2,
       "moe_intermediate_size": 64, "n_shared_experts": 1, "first_k_dense_replace": 1)"};

ModelSpec configured(std::string_view model_type, const std::string& reach) {
  std::string why;
  for (const char* experts : kExperts) try {
      ModelSpec model = read_huggingface(
          parse_json(R"({"model_type": ")" + std::string(model_type) +
                     R"(", "hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8,
              "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 1024,
              "vocab_size": 4, "hidden_act": "silu", "rms_norm_eps": 1e-5, )" +
                     reach + experts + "}"));
      std::erase_if(model.layers, [](const Layer& l) { return l.role == Layer::mtp; });
      return model;
    } catch (const Error& e) {
      why += std::string(" ") + e.key + ": " + e.what();
    }
  FAIL("no configuration of " << std::string(model_type) << " is read:" << why);
  return {};
}

}  // namespace

// Whole attention, and windows by the family's own period: llama.cpp's set_swa_pattern, the other
// configurations' layer_types.
TEST_CASE("a file and a configuration of the same shape have the same caches, in every family") {
  for (const gguf::Architecture& a : gguf::architectures()) {
    if (a.state != gguf::Architecture::none || has_word(kByThemselves, a.name)) continue;
    if (a.reads_as == "bert" && a.name != "bert") continue;  // no configuration of them is read
    CAPTURE(a.name);
    Keys keys = {{"block_count", 12},          {"embedding_length", 512},
                 {"attention.head_count", 8},  {"attention.head_count_kv", 2},
                 {"attention.key_length", 64}, {"attention.value_length", 64}};
    if (a.window == 0)  // else it slides though the file does not say so
      CHECK(caches_text(read(file_of(std::string(a.name), keys))) ==
            caches_text(configured(a.model_type, "")));
    if (a.full_every == 0) continue;
    keys.emplace_back("attention.sliding_window", 128);
    const std::int64_t window = a.fixed_window > 0 ? a.fixed_window : 128;
    const auto every = static_cast<std::size_t>(a.full_every);
    std::vector<std::int32_t> slides(every, 1);
    slides[a.full_first ? 0 : every - 1] = 0;
    CHECK(caches_text(read(file_of(std::string(a.name), keys))) ==
          caches_text(configured(a.model_type, "\"sliding_window\": " + std::to_string(window) +
                                                   ", \"layer_types\": " + layer_types(slides, 12) +
                                                   ",")));
  }
}
