// SPDX-License-Identifier: Apache-2.0
#include "cli/served_name.h"

#include <doctest/doctest.h>

using namespace kvplan;

TEST_CASE("an engine is told to serve an id that it can download, or the user's own path") {
  const Catalog catalog;
  CHECK(served_name(catalog, "GPT-OSS 120B", "vllm", {}) == "openai/gpt-oss-120b");
  CHECK(served_name(catalog, "gpt-oss-120b", "llama.cpp", "mxfp4_moe") ==
        "gpt-oss-120b-mxfp4_moe.gguf");
  CHECK(served_name(catalog, "./models/mine/config.json", "sglang", {}) == "./models/mine");
  CHECK(served_name(catalog, "config.json", "vllm", {}) == ".");
  CHECK(served_name(catalog, "./mine.gguf", "llama.cpp", {}) == "./mine.gguf");
}

TEST_CASE("a repository that the user typed is served as typed, a GGUF file by its format") {
  const Catalog catalog;
  CHECK(served_name(catalog, "Qwen/Qwen2.5-72B-Instruct-AWQ", "vllm", {}) ==
        "Qwen/Qwen2.5-72B-Instruct-AWQ");
  CHECK(served_name(catalog, "bartowski/Llama-3.2-3B-Instruct-GGUF:IQ4_XS", "llama.cpp", {}) ==
        "llama-3.2-3b-instruct-iq4_xs.gguf");
  CHECK(served_name(catalog, "qwen3:8b", "ollama", {}) == "qwen3:8b");
  CHECK(served_name(catalog, "qwen3:8b", "ollama", "q4_k_m") == "qwen3:8b");
  CHECK(served_name(catalog, "qwen3:8b", "ollama", "q8_0").ends_with("-q8_0.gguf"));
}
