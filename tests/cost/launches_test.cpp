// SPDX-License-Identifier: Apache-2.0
#include "cost/launches.h"

#include <doctest/doctest.h>

#include <numeric>

#include "model/shapes.h"

using namespace kvplan;

namespace {

Deployment over(std::int64_t tp) {
  Deployment d;
  d.parallel.tp = tp;
  return d;
}

// How often a shape is launched; 0 where it is not.
std::int64_t count_of(const Launches& launches, const Shape& shape) {
  for (const Launch& l : launches.all)
    if (l.shape == shape) return l.count;
  return 0;
}

// 32 layers, hidden 4096, 32 heads of 128, 8 KV heads, feed-forward 14336, vocabulary 128256.
ModelSpec llama_8b() { return shapes::llama({32, 4096, 32, 8, 128, 14336, 128256}); }

}  // namespace

TEST_CASE("a layer runs q, k and v as one product, gate and up as one, and two that sum up") {
  const Format* bf16 = &format_named("bf16");
  const Launches step = decode_launches(llama_8b(), over(1), Tokens(4096), 3);
  CHECK(step.missing.empty());
  CHECK(step.all.size() == 6);
  CHECK(count_of(step, GemmShape{3, 4096 + 2 * 1024, 4096, bf16}) == 32);
  CHECK(count_of(step, GemmShape{3, 4096, 4096, bf16}) == 32);
  CHECK(count_of(step, GemmShape{3, 2 * 14336, 4096, bf16}) == 32);
  CHECK(count_of(step, GemmShape{3, 4096, 14336, bf16}) == 32);
  CHECK(count_of(step, GemmShape{3, 128256, 4096, bf16}) == 1);
  CHECK(count_of(step, DecodeAttentionShape{3, 32, 8, 128, 128, 4096, bf16, bf16}) == 32);
}

TEST_CASE("over four GPUs matrices and heads are a quarter, and each layer sums twice") {
  const Format* bf16 = &format_named("bf16");
  const Launches step = decode_launches(llama_8b(), over(4), Tokens(4096), 2);
  CHECK(count_of(step, GemmShape{2, 1024 + 2 * 256, 4096, bf16}) == 32);
  CHECK(count_of(step, GemmShape{2, 4096, 14336 / 4, bf16}) == 32);
  CHECK(count_of(step, DecodeAttentionShape{2, 8, 2, 128, 128, 4096, bf16, bf16}) == 32);
  // Two rows of 4096 numbers in 16 bits.
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_reduce, 4, Bytes(2 * 4096 * 2)}) == 64);
}

TEST_CASE("a prompt multiplies all its tokens, and the head only the last of each sequence") {
  const Format* bf16 = &format_named("bf16");
  const Launches prompt = prefill_launches(llama_8b(), over(1), Tokens(1000), 2);
  CHECK(count_of(prompt, GemmShape{2000, 4096, 14336, bf16}) == 32);
  CHECK(count_of(prompt, GemmShape{2, 128256, 4096, bf16}) == 1);
  CHECK(count_of(prompt, PrefillAttentionShape{2, 32, 8, 128, 128, 1000, 0, bf16}) == 32);
}

TEST_CASE("a window reads and computes no more than its tokens") {
  ModelSpec model = llama_8b();
  for (Layer& layer : model.layers) layer.mixer.reach = {Window{Tokens(512)}};
  const Format* bf16 = &format_named("bf16");
  const Launches step = decode_launches(model, over(1), Tokens(4096), 1);
  CHECK(count_of(step, DecodeAttentionShape{1, 32, 8, 128, 128, 512, bf16, bf16}) == 32);
  const Launches prompt = prefill_launches(model, over(1), Tokens(4096), 1);
  // 8 pieces of 512 queries that see 256 tokens before them: 4096 · 512 pairs, and the ramps.
  CHECK(count_of(prompt, PrefillAttentionShape{8, 32, 8, 128, 128, 512, 256, bf16}) == 32);
}

TEST_CASE("what no law describes is named") {
  ModelSpec model = llama_8b();
  Recurrent recurrent;
  recurrent.v_heads = 64;
  recurrent.k_width = recurrent.v_width = 64;
  model.layers[3].mixer.kind = recurrent;
  model.layers[3].mixer.reach.clear();
  CHECK(decode_launches(model, over(1), Tokens(4096), 1).missing == "a recurrent state");
  Deployment stages;
  stages.parallel.pp = 2;
  CHECK(decode_launches(llama_8b(), stages, Tokens(4096), 1).missing == "pipeline stages");
}
