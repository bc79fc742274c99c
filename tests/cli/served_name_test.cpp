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
