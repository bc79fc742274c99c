// SPDX-License-Identifier: Apache-2.0
// Architectures that are unknown, files that are no decoder, metadata that makes no sense.
#include <doctest/doctest.h>

#include <string>

#include "catalog/gguf_models.h"

using namespace kvplan;
using namespace kvplan::testing;

namespace {

std::string refusal(const GgufWriter& writer) {
  try {
    read(writer);
  } catch (const Error& e) {
    return e.key + ": " + e.what();
  }
  return "none";
}

}  // namespace

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
  CHECK(refusal(file_of("clip")).find("tower") != std::string::npos);
  CHECK(refusal(GgufWriter().u32("a", 1)).starts_with("general.architecture: "));
  GgufWriter adapter = file_of("llama");
  adapter.text("general.type", "adapter");
  CHECK(refusal(adapter).find("adapter") != std::string::npos);
  GgufWriter embedder = file_of("qwen3", {{"block_count", 2}, {"embedding_length", 8}});
  embedder.boolean("qwen3.attention.causal", false);
  CHECK(refusal(embedder).starts_with("attention.causal: "));
}

TEST_CASE("a file of a vocabulary alone is refused, whatever its keys say") {
  // As ggml-vocab-*.gguf of ggml-org/llama.cpp, models/.
  GgufWriter vocabulary;
  vocabulary.text("general.architecture", "llama").u32("llama.block_count", 32);
  vocabulary.u32("llama.embedding_length", 4096).u32("llama.attention.head_count", 32);
  CHECK(refusal(vocabulary).find("no tensors") != std::string::npos);
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
