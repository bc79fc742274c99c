// SPDX-License-Identifier: Apache-2.0
// Shapes that models publish, and the exact totals of their safetensors files.
#include "catalog/huggingface.h"

#include <doctest/doctest.h>

#include <string>

#include "model/parameters.h"

using namespace kvplan;

namespace {

ModelSpec read(const std::string& yaml) { return read_huggingface(parse_yaml(yaml)); }

}  // namespace

TEST_CASE("a plain decoder has the parameters of its published file") {
  // huggyllama/llama-7b: 2 x 32000 x 4096 + 32 x (4 x 4096^2 + 3 x 4096 x 11008 + 2 x 4096) + 4096.
  const ModelSpec llama = read(
      "{model_type: llama, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, "
      "intermediate_size: 11008, vocab_size: 32000}");
  CHECK(count_parameters(llama).total == 6'738'415'616);
  CHECK(main_layers(llama).size() == 32);
  CHECK_FALSE(llama.tied_head);
  // Qwen/Qwen2.5-7B (tied: no): implicit biases on q, k and v.
  const ModelSpec qwen = read(
      "{model_type: qwen2, hidden_size: 3584, num_hidden_layers: 28, num_attention_heads: 28, "
      "num_key_value_heads: 4, intermediate_size: 18944, vocab_size: 152064, "
      "tie_word_embeddings: false}");
  CHECK(count_parameters(qwen).total == 7'615'616'512);
}

TEST_CASE("experts count all for memory and the chosen ones for speed") {
  // mistralai/Mixtral-8x7B-v0.1.
  const Parameters p = count_parameters(read(
      "{model_type: mixtral, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, "
      "num_key_value_heads: 8, intermediate_size: 14336, vocab_size: 32000, num_local_experts: 8, "
      "num_experts_per_tok: 2}"));
  CHECK(p.total == 46'702'792'704);
  // Six of eight experts unread, and the embedding table.
  CHECK(p.active == p.total - 32LL * 6 * 3 * 4096 * 14336 - 32000LL * 4096);
}
