// SPDX-License-Identifier: Apache-2.0
#include "cost/launches.h"

#include <doctest/doctest.h>

#include <algorithm>
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

// DeepSeek-V3: 58 of 61 layers have 256 experts, 8 for a token.
TEST_CASE("GPUs that divide attention and experts see all tokens and add up their parts") {
  const ModelSpec model = shapes::deepseek_v3();
  Deployment whole_experts = over(8);
  whole_experts.parallel.ep = 8;
  const Launches step = decode_launches(model, whole_experts, Tokens(4096), 3);
  const Format* bf16 = &format_named("bf16");
  CHECK(step.missing.empty());
  CHECK(count_of(step, MoeShape{3, 7168, 2048, 8, 256, 1, 8, bf16}) == 58);
  // After attention and after the feed-forward of every layer, as without whole experts.
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_reduce, 8, Bytes(3 * 7168 * 2)}) ==
        2 * 61);
  CHECK(count_of(decode_launches(model, over(8), Tokens(4096), 3),
                 MoeShape{3, 7168, 2048, 8, 256, 8, 1, bf16}) == 58);
}

TEST_CASE("where attention is whole, tokens travel to the GPUs of their experts and back") {
  const ModelSpec model = shapes::deepseek_v3();
  Deployment exchanging;
  exchanging.parallel.dp = exchanging.parallel.ep = 8;
  const Format* bf16 = &format_named("bf16");
  const Launches step = decode_launches(model, exchanging, Tokens(4096), 800);
  CHECK(step.missing.empty());
  // Each GPU has 100 sequences; the experts of the eight serve all 800.
  CHECK(count_of(step, GemmShape{100, 7168, 128 * 128, bf16}) == 61);
  CHECK(count_of(step, MoeShape{800, 7168, 2048, 8, 256, 1, 8, bf16}) == 58);
  // A GPU has 32 of the 256. All 8 are of the other 224 for C(224, 8) / C(256, 8) = 0.33817 of the
  // tokens; 8 (1 - 0.33817) = 5.2947 GPUs are visited, by 100 tokens 529 times.
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_to_all, 8, Bytes(529 * 7168 * 2)}) ==
        2 * 58);
  const Launches prompt = prefill_launches(model, exchanging, Tokens(1000), 16);
  CHECK(count_of(prompt, MoeShape{16000, 7168, 2048, 8, 256, 1, 8, bf16}) == 58);
}

TEST_CASE("a token that may go to every expert visits every GPU") {
  ModelSpec model = shapes::deepseek_v3();
  for (Layer& layer : model.layers)
    for (Weight& w : layer.weights)
      if (w.role == Role::routed_expert) w.active = w.copies;
  Deployment exchanging;
  exchanging.parallel.dp = exchanging.parallel.ep = 4;
  const Launches step = decode_launches(model, exchanging, Tokens(4096), 4);
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_to_all, 4, Bytes(4 * 7168 * 2)}) ==
        2 * 58);
}

TEST_CASE("experts laid out in ways that were never measured are named") {
  const ModelSpec model = shapes::deepseek_v3();
  Deployment d;
  d.parallel.dp = d.parallel.ep = 16;
  CHECK(decode_launches(model, d, Tokens(4096), 16).missing ==
        "tokens exchanged among more than 8 GPUs");
  d.parallel = {4, 1, 2, 8, 1};
  CHECK(decode_launches(model, d, Tokens(4096), 16).missing ==
        "experts divided over other GPUs than attention");
}

// Qwen3-Next: 16 key heads and 32 value heads of 128, a convolution of 4 taps over
// 2 · 16 · 128 + 32 · 128 = 8192 channels.
TEST_CASE("a recurrent layer runs its convolution and its recurrence, each GPU its heads") {
  ModelSpec model = llama_8b();
  Recurrent r;
  r.kind = Recurrent::gated_delta_net;
  r.k_heads = 16, r.v_heads = 32, r.k_width = r.v_width = 128;
  r.taps = 4, r.conv_channels = 8192;
  model.layers[3].mixer.kind = r;
  model.layers[3].mixer.reach.clear();
  const Format *bf16 = &format_named("bf16"), *fp32 = &format_named("fp32");
  const RecurrenceShape convolution{Recurrent::short_conv, 5, 1, 0, 0, 0, 0, 4096, 4, bf16};
  const RecurrenceShape matrices{Recurrent::gated_delta_net, 5, 1, 8, 16, 128, 128, 0, 0, fp32};
  const Launches step = decode_launches(model, over(2), Tokens(4096), 5);
  CHECK(step.missing.empty());
  CHECK(count_of(step, convolution) == 1);
  CHECK(count_of(step, matrices) == 1);
  const Launches prompt = prefill_launches(model, over(1), Tokens(1000), 2);
  CHECK(count_of(prompt, RecurrenceShape{Recurrent::gated_delta_net, 2, 1000, 16, 32, 128, 128, 0,
                                         0, fp32}) == 1);

  // Bytes beyond inputs and outputs are those that the ceiling counts: 2 · 32 · 128 · 128 · 4 of
  // matrices and 4 rows of 8192 channels in 16 bits per sequence and layer.
  const auto groups = cache_groups(model, cache_formats("bf16"));
  const auto state = std::find_if(groups.begin(), groups.end(),
                                  [](const CacheGroup& g) { return g.kind == CacheGroup::state; });
  REQUIRE(state != groups.end());
  const Bytes passed = Bytes(5 * 2 * (2 * 4096)) + Bytes(5 * 2 * (2 * 8 * 128 + 2 * 16 * 128));
  CHECK(work_of(convolution).distinct + work_of(matrices).distinct - passed ==
        state_traffic(*state, {2, 1}) * 5);
  CHECK(state_traffic(*state, {1, 1}) == Bytes(2 * 32 * 128 * 128 * 4 + 4 * 8192 * 2));
}

// DeepSeek-V3.2: an indexer of 64 heads of 128 picks 2048 tokens; 61 layers, 128 heads.
TEST_CASE("latent attention with an indexer is one module, its products with weights included") {
  ModelSpec model = shapes::deepseek_v3();
  for (Layer& layer : model.layers) {
    layer.mixer.sparse = Sparse{};
    layer.mixer.sparse->heads = 64;
    layer.mixer.sparse->width = 128;
    layer.mixer.sparse->top_entries = 2048;
  }
  const Launches step = decode_launches(model, over(8), Tokens(4096), 3);
  CHECK(step.missing.empty());
  const Launch* module = nullptr;
  for (const Launch& l : step.all)
    if (std::holds_alternative<SparseLatentShape>(l.shape)) module = &l;
  REQUIRE(module);
  CHECK(module->count == 61);
  const auto& shape = std::get<SparseLatentShape>(module->shape);
  CHECK(shape.batch == 3);
  CHECK(shape.heads == 16);
  CHECK(shape.past == 4095);
  // (1536 + 576) · 7168 of all heads; 16 heads of 1536 · 192 + 512 · 256 + 128 · 7168.
  CHECK(shape.parameters == 2112 * 7168 + 16 * (1536 * 192 + 512 * 256 + 128 * 7168));
  const Format* bf16 = &format_named("bf16");
  CHECK(count_of(step, GemmShape{3, 7168, 16 * 128, bf16}) == 0);  // the output's is in the module
  CHECK(prefill_launches(model, over(8), Tokens(1000), 1).missing.empty());
}

TEST_CASE("what no law describes is named") {
  ModelSpec model = llama_8b();
  Recurrent recurrent;
  recurrent.v_heads = 64;
  recurrent.k_width = recurrent.v_width = 64;
  recurrent.kind = Recurrent::compressor;
  model.layers[3].mixer.kind = recurrent;
  model.layers[3].mixer.reach.clear();
  CHECK(decode_launches(model, over(1), Tokens(4096), 1).missing == "sparse attention");
}

TEST_CASE(
    "each stage of a pipeline has a part of the batch, which passes all of them and the sends") {
  Deployment stages = over(2);
  stages.parallel.pp = 4;
  const Format* bf16 = &format_named("bf16");
  const Launches step = decode_launches(llama_8b(), stages, Tokens(4096), 12);
  CHECK(step.missing.empty());
  CHECK(count_of(step, GemmShape{3, 4096, 14336 / 2, bf16}) == 32);
  CHECK(count_of(step, GemmShape{3, 128256 / 2, 4096, bf16}) == 1);
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_reduce, 2, Bytes(3 * 4096 * 2)}) == 64);
  // Three sends of three rows of 4096 numbers and their residuals, as gathers of twice that.
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_gather, 2,
                                       Bytes(2 * 3 * 2 * 4096 * 2)}) == 3);
  const Launches prompt = prefill_launches(llama_8b(), stages, Tokens(1000), 1);
  CHECK(count_of(prompt, GemmShape{1000, 4096, 14336 / 2, bf16}) == 32);
}

TEST_CASE("GPUs that divide a context attend with each other's heads to their part of it") {
  Deployment divided = over(16);  // 32 heads, 8 KV heads: two GPUs have the same KV head
  divided.parallel.dcp = 2;
  const Format* bf16 = &format_named("bf16");
  const Launches step = decode_launches(llama_8b(), divided, Tokens(4096), 3);
  CHECK(step.missing.empty());
  CHECK(count_of(step, DecodeAttentionShape{3, 4, 1, 128, 128, 2048, bf16, bf16}) == 32);
  // Queries of 3 sequences, 2 heads a GPU, and as many outputs.
  CHECK(count_of(step, CollectiveShape{CollectiveShape::all_gather, 2,
                                       Bytes(2 * 3 * 2 * 128 * 2)}) == 32);
  CHECK(count_of(step, CollectiveShape{CollectiveShape::reduce_scatter, 2,
                                       Bytes(2 * 3 * 2 * 128 * 2)}) == 32);
}
