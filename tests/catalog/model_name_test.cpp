// SPDX-License-Identifier: Apache-2.0
// Names as repositories and tags have them; the formats are those that their publishers document.
#include "catalog/model_name.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "error.h"
#include "model/parameters.h"

using namespace kvplan;

namespace {

struct Case {
  const char* typed;
  const char* model;    // of the catalog
  const char* weights;  // recipe; "" where the checkpoint's own
};

constexpr Case kCases[] = {
    {"llama3.3:70b-instruct-q4_K_M", "llama-3.3-70b", "q4_k_m"},
    {"ollama.com/library/llama3.1:8b-instruct-fp16", "llama-3.1-8b", "fp16"},
    {"mistral:7b-instruct-v0.3-q4_K_M", "mistral-7b-v0.3", "q4_k_m"},
    {"gemma3:27b-it-qat", "gemma-3-27b", "q4_0"},
    {"hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:IQ4_XS", "llama-3.2-3b", "iq4_xs"},
    {"https://huggingface.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama-3.1-8b", "q4_k_m"},
    {"Llama-3.1-8B-Instruct.Q5_K_M", "llama-3.1-8b", "q5_k_m"},
    {"Qwen3 32B Q4_K_M", "qwen3-32b", "q4_k_m"},
    {"ggml-org/gpt-oss-120b-GGUF", "gpt-oss-120b", ""},
    {"gpt-oss-20b-mxfp4", "gpt-oss-20b", ""},
    {"Qwen/Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b", "int4-g128-zp"},
    {"Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "qwen2.5-72b", "int4-g128"},
    {"Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8", "qwen2.5-72b", "int8-g128"},
    {"TheBloke/Mistral-7B-Instruct-v0.2-GPTQ-32g", "mistral-7b-v0.2", "int4-g32"},
    {"RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16", "llama-3.3-70b", "int4-g128"},
    {"RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "llama-3.3-70b", "fp8-channel"},
    {"nvidia/DeepSeek-R1-FP4", "deepseek-r1", "nvfp4"},
    {"some-org/DeepSeek-R1-FP8", "deepseek-r1", ""},
    {"nvidia/Llama-3.1-405B-Instruct-FP8", "llama-3.1-405b-fp8", ""},
    {"mlx-community/Llama-3.3-70B-Instruct-4bit", "llama-3.3-70b", "mlx-4bit-g64"},
    {"unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b", "nf4"},
    {"turboderp/Llama-3.1-8B-Instruct-exl3:4.0bpw", "llama-3.1-8b",
     "4.0bpw,embedding=fp16,head=fp6"},
    {"some-org/Llama-3.3-70B-Instruct-4.25bpw-h8-exl2", "llama-3.3-70b",
     "4.25bpw,embedding=fp16,head=int8"},
    {"unsloth/Llama-3.3-70B-Instruct", "llama-3.3-70b", ""},
};

// What the reader was told.
std::string said(const ModelSpec& model) {
  for (const Warning& warning : model.warnings)
    if (warning.code == "taken-by-name") return warning.message;
  return {};
}

}  // namespace

TEST_CASE("a repository or a tag is read as a model of the catalog in the format it names") {
  const Catalog catalog;
  for (const Case& c : kCases) {
    CAPTURE(c.typed);
    const ModelSpec model = catalog.model(c.typed);
    CHECK(model.name == c.model);
    const std::string weights(c.weights);
    CHECK(said(model) == "'" + std::string(c.typed) + "' is taken as " + c.model +
                             (weights.empty() ? "" : " with weights in " + weights));
    CHECK(count_parameters(model).total == count_parameters(catalog.model(c.model)).total);
  }
}

TEST_CASE("the format in a name changes the bytes, never below those of its own recipe") {
  const Catalog catalog;
  const auto bytes = [](const ModelSpec& model) { return resident_weights(model); };
  const ModelSpec plain = catalog.model("llama-3.1-8b");
  // 8,030,261,248 parameters at 4.5 bits and a little more for vectors in 16 bits.
  const ModelSpec mlx = catalog.model("mlx-community/Meta-Llama-3.1-8B-Instruct-4bit");
  CHECK(bytes(mlx).n > 8030261248 * 9 / 16);
  CHECK(bytes(mlx).n < 8030261248 * 9 / 16 + 2 * kMiB);
  CHECK(bytes(catalog.model("llama3.1:8b-instruct-fp16")) == bytes(plain));
}

TEST_CASE("a vendor's own mix is refused, whatever the model") {
  const Catalog catalog;
  for (const char* name : {"unsloth/Qwen3-235B-A22B-GGUF:UD-Q4_K_XL", "llama3.1:8b-q4_k_xxl"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(catalog.model(name), Error);
  }
}

TEST_CASE("numbers, sizes and versions are not taken for formats") {
  for (const char* name : {"phi-4", "qwen2.5-7b", "gemma-3-27b", "llama-3.1-8b", "glm-4.5-air",
                           "q-model", "yi-34b-200k", "mixtral-8x7b"}) {
    CAPTURE(name);
    CHECK(typed_model(name).weights.empty());
    CHECK_FALSE(typed_model(name).is_gguf);
  }
  CHECK(typed_model(std::string(1 << 20, 'q')).names.empty());
  CHECK(typed_model("").names.empty());
  CHECK(typed_model("/").names.empty());
}

TEST_CASE("an unknown name that holds a known one with its size is told so") {
  const Catalog catalog;
  try {
    catalog.model("somebody/glm-4.7-flash-of-another-size");  // a family is no shape
    FAIL("found");
  } catch (const Error& e) {
    CHECK(e.advice.find("fine-tune") == std::string::npos);
  }
  try {
    catalog.model("NousResearch/Hermes-3-Llama-3.1-8B");
    FAIL("found");
  } catch (const Error& e) {
    CHECK(e.advice.find("a fine-tune of llama-3.1-8b") != std::string::npos);
  }
}
