// SPDX-License-Identifier: Apache-2.0
#include "model/cache.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "model/shapes.h"

using namespace kvplan;

namespace {

const CacheFormats kBf16 = cache_formats("bf16");

const CacheGroup& of_kind(const std::vector<CacheGroup>& groups, CacheGroup::Kind kind) {
  const auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const CacheGroup& g) { return g.kind == kind; });
  REQUIRE(at != groups.end());
  return *at;
}

double growth(const ModelSpec& model, std::string_view format, CacheSharding sharding = {}) {
  return growth_per_token(cache_groups(model, cache_formats(format)), sharding);
}

ModelSpec one_layer(Mixer mixer) {
  ModelSpec model;
  model.layers.resize(1);
  model.layers[0].mixer = std::move(mixer);
  return model;
}

}  // namespace

TEST_CASE("60 layers of 128 heads take 3840, 240 and 30 KiB per token, MLA 67.5") {
  // DeepSeek-V2 (arXiv 2405.04434), table 1: 2 n_h d_h, 2 n_g d_h, 2 d_h, d_c + d_r per layer.
  for (const auto& [kv_heads, kib] : {std::pair{128, 3840.0}, {8, 240.0}, {1, 30.0}})
    CHECK(growth(shapes::llama({60, 4096, 128, kv_heads}), "fp16") == kib * 1024);
  CHECK(growth(shapes::deepseek_v3(60), "fp16") == 67.5 * 1024);
}

TEST_CASE("a group's bytes for LLaMA-7B's shape at 4096 tokens and two sequences") {
  for (const auto& [kv_heads, bytes] : {std::pair{32, 4294967296},
                                        {16, 2147483648},
                                        {8, 1073741824},
                                        {4, 536870912},
                                        {1, 134217728}}) {
    const auto groups = cache_groups(shapes::llama({32, 4096, 32, kv_heads}), kBf16);
    REQUIRE(groups.size() == 1);
    CHECK(stored_bytes(groups[0], Tokens(4096)) * 2 == Bytes(bytes));
  }
}

TEST_CASE("DeepSeek-V3 keeps 8.578 GiB for 131,072 tokens, V3.2 48,068 B per token") {
  const auto groups = cache_groups(shapes::deepseek_v3(), kBf16);
  CHECK(stored_bytes(groups[0], Tokens(131072)).real() / kGiB ==
        doctest::Approx(8.578).epsilon(1e-4));
  // 61 layers of 656 + 132 B (deepseek-ai/FlashMLA, README; vLLM's indexer key of 128 fp8 + 4 B).
  CHECK(growth(shapes::deepseek_v32(), "fp8_ds_mla") == 48068);
  CHECK(growth(shapes::deepseek_v32(), "bf16") == 61 * (576 + 128) * 2);
}

TEST_CASE("gpt-oss-120b grows by its full layers only") {
  const auto groups = cache_groups(shapes::gpt_oss_120b(), kBf16);
  CHECK(growth_per_token(groups) == 36864);
  CHECK(bytes_per_token(of_kind(groups, CacheGroup::window)) == 36864);
  CHECK(stored_bytes(of_kind(groups, CacheGroup::window), Tokens(100000)) == Bytes(36864 * 128));
}

TEST_CASE("KV heads divide down to one per GPU and replicate beyond") {
  // Qwen3-235B-A22B: 94 layers, 4 KV heads of 128.
  const ModelSpec model = shapes::llama({94, 4096, 64, 4});
  CHECK(growth(model, "bf16") == 4 * 48128);
  CHECK(growth(model, "bf16", {2, 1}) == 2 * 48128);
  CHECK(growth(model, "bf16", {4, 1}) == 48128);
  CHECK(growth(model, "bf16", {8, 1}) == 48128);
}

TEST_CASE("heads that tensor parallelism cannot spread are refused by name") {
  const auto groups = cache_groups(shapes::llama({1, 4096, 32, 8}), kBf16);
  CHECK_THROWS_WITH_AS(entry_bytes(groups[0], {3, 1}), "8 KV heads cannot be spread over 3 GPUs",
                       Error);
  CHECK_THROWS_AS(entry_bytes(groups[0], {12, 1}), Error);
}

TEST_CASE("latents and index keys replicate over tensor parallelism, context parallelism divides") {
  const ModelSpec model = shapes::deepseek_v32();
  CHECK(growth(model, "fp8_ds_mla", {8, 1}) == 48068);
  CHECK(growth(model, "fp8_ds_mla", {8, 8}) == 48068.0 / 8);
}

TEST_CASE("keys and values of different width and format are counted apart") {
  // MiMo-V2-Flash: K rows of 192, V rows of 128.
  const auto groups = cache_groups(one_layer(shapes::attention(64, 4, 192, 128)), kBf16);
  CHECK(entry_bytes(groups[0]) == Bytes(4 * (192 + 128) * 2));
  const auto mixed =
      cache_groups(one_layer(shapes::attention(32, 8, 128, 128)), cache_formats("q8_0,q4_0"));
  CHECK(entry_bytes(mixed[0]) == Bytes(8 * (136 + 72)));
}

TEST_CASE("a chunk keeps the tokens since its start, a window the last ones") {
  const auto chunk =
      cache_groups(one_layer(shapes::attention(1, 1, 1, 1, Chunk{Tokens(8192)})), kBf16);
  CHECK(chunk[0].kind == CacheGroup::chunk);
  CHECK(stored_entries(chunk[0], Tokens(0)) == 0);
  CHECK(stored_entries(chunk[0], Tokens(8192)) == 8192);
  CHECK(stored_entries(chunk[0], Tokens(8193)) == 1);
  const auto window =
      cache_groups(one_layer(shapes::attention(1, 1, 1, 1, Window{Tokens(128)})), kBf16);
  CHECK(stored_entries(window[0], Tokens(100)) == 100);
  CHECK(stored_entries(window[0], Tokens(8193)) == 128);
}

TEST_CASE("DeepSeek-V4-Flash's layers are in several groups at once") {
  // 43 layers: window 128 everywhere, 21 compress by 4 with an indexer, 20 by 128
  // (DeepSeek-V4-Flash config.json). Rows of 584 B, index entries of 132 B per 4 tokens.
  ModelSpec model;
  for (int i = 0; i < 43; ++i) {
    Layer layer;
    layer.mixer.kind = Attention{64, 1, 512, 512, true, 64};
    layer.mixer.reach = {Window{Tokens(128)}};
    const std::int64_t ratio = i < 2 ? 0 : i % 2 == 0 ? 4 : 128;
    if (ratio > 0) layer.mixer.reach.push_back(Compressed{ratio});
    if (ratio == 4) layer.mixer.sparse = Sparse{64, 128, 1, 512, 4, true};
    model.layers.push_back(layer);
  }
  const auto groups = cache_groups(model, cache_formats("fp8_ds_mla"));
  CHECK(bytes_per_token(of_kind(groups, CacheGroup::window)) == 43 * 584);
  CHECK(bytes_per_token(of_kind(groups, CacheGroup::index)) == 693);
  CHECK(growth_per_token(groups) == 21 * 584 / 4.0 + 20 * 584 / 128.0 + 693);
  // Of 250 compressed entries the indexer chooses none away, of 25,000 all but 512.
  const CacheGroup& compressed = of_kind(groups, CacheGroup::compressed);
  CHECK(read_entries(compressed, Tokens(1000)) == 250);
  CHECK(read_entries(compressed, Tokens(100000)) == 512);
  CHECK(stored_entries(compressed, Tokens(100003)) == 25000);
}

TEST_CASE("V4's compressor keeps a ring of raw tokens that every GPU holds") {
  Mixer mixer;
  mixer.kind = Attention{64, 1, 512, 512, true, 64};
  mixer.reach = {Compressed{4}};
  // 8 tokens of 2 x 2 x 512 fp32 numbers.
  mixer.beside = Recurrent{Recurrent::compressor, 1, 1, 8, 2048, 0, 0, &format_named("fp32")};
  const auto groups = cache_groups(one_layer(mixer), kBf16);
  CHECK(state_bytes(of_kind(groups, CacheGroup::state), {8, 1}) == Bytes(8 * 2048 * 4));
}

TEST_CASE("recurrent state per sequence is that of the published shapes") {
  const auto state = [](const Recurrent& r, std::int64_t layers, CacheSharding sharding = {}) {
    Mixer mixer;
    mixer.kind = r;
    const auto groups = cache_groups(one_layer(mixer), kBf16);
    return state_bytes(groups[0], sharding) * layers;
  };
  const Format* fp32 = &format_named("fp32");
  // Qwen3.5-27B: 48 of 64 layers; vLLM pads its page of 3,207,168 B to 784 tokens of 4,096 B.
  CHECK(state(shapes::gated_delta_net(16, 48), 1) == Bytes(3207168));
  CHECK(state(shapes::gated_delta_net(16, 48), 48) == Bytes(153944064));
  CHECK(state(shapes::gated_delta_net(16, 48), 1, {2, 1}) == Bytes(1603584));
  // Nemotron-3-Super-120B: 40 Mamba-2 layers of 128 heads of 64, state 128, 8 groups, 4 taps.
  const Recurrent mamba2{Recurrent::mamba2, 8, 128, 128, 64, 4, 128 * 64 + 2 * 8 * 128, fp32};
  CHECK(state(mamba2, 40) == Bytes(170229760));
  // Groups that 16 GPUs do not divide repeat, one a rank: 3 x (512 + 256) + 8 x 128 x 64.
  CHECK(state(mamba2, 1, {16, 1}) == Bytes(3 * (512 + 256) * 2 + 8 * 128 * 64 * 4));
  // Kimi Delta Attention: 32 heads of 128; q, k and v pass the convolution.
  const Recurrent kda{Recurrent::kda, 32, 32, 128, 128, 4, 3 * 32 * 128, fp32};
  CHECK(state(kda, 1) == Bytes(32 * 128 * 128 * 4 + 3 * 3 * 32 * 128 * 2));
  // A short convolution keeps its taps only.
  const Recurrent conv{Recurrent::short_conv, 0, 0, 0, 0, 3, 2048, nullptr};
  CHECK(state(conv, 1) == Bytes(2 * 2048 * 2));
  // Mamba-1: inner x 16 state and 3 x inner taps.
  const Recurrent mamba1{Recurrent::mamba1, 1, 8192, 16, 1, 4, 8192, fp32};
  CHECK(state(mamba1, 1) == Bytes(8192 * 16 * 4 + 3 * 8192 * 2));
  CHECK_THROWS_AS(state(mamba2, 1, {3, 1}), Error);
}

TEST_CASE("a layer that shares another's cache stores nothing and still reads") {
  ModelSpec model = shapes::llama({4, 1024, 8, 2, 64, 4096, 1000});
  model.layers[3].mixer.shares_cache_of = 2;
  const auto groups = cache_groups(model, kBf16);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].layers == std::vector<int>{0, 1, 2});
  CHECK(groups[0].readers == std::vector<int>{0, 1, 2, 3});
  model.layers[0].mixer.shares_cache_of = 1;
  CHECK_THROWS_AS(cache_groups(model, kBf16), Error);
}

TEST_CASE("encoders have no cache, cross-attention keeps the source's tokens") {
  Mixer encoder = shapes::attention(8, 8, 64, 64);
  encoder.causal = false;
  CHECK(cache_groups(one_layer(encoder), kBf16).empty());
  const auto cross = cache_groups(one_layer(shapes::attention(8, 8, 64, 64, Source{})), kBf16);
  CHECK(cross[0].kind == CacheGroup::cross);
  CHECK(stored_bytes(cross[0], Tokens(5000), Tokens(1500)) == Bytes(1500 * 8 * 64 * 2 * 2));
  CHECK(growth_per_token(cross) == 0);
}

TEST_CASE("a window never costs more than full attention") {
  const auto full = cache_groups(one_layer(shapes::attention(1, 1, 64, 64)), kBf16);
  for (const Reach& reach :
       {Reach(Window{Tokens(100)}), Reach(Chunk{Tokens(64)}), Reach(Compressed{4})}) {
    const auto capped = cache_groups(one_layer(shapes::attention(1, 1, 64, 64, reach)), kBf16);
    for (std::int64_t n = 0; n < 300; n += 7)
      CHECK(stored_bytes(capped[0], Tokens(n)) <= stored_bytes(full[0], Tokens(n)));
  }
}

TEST_CASE("cache formats that only weights can have, or nobody knows, are refused") {
  CHECK_THROWS_AS(cache_formats("int4-g128"), Error);
  CHECK_THROWS_AS(cache_formats("fp8-block128"), Error);
  CHECK_THROWS_AS(cache_formats("q8_0,q4_0,q4_0"), Error);
  CHECK_THROWS_AS(cache_formats("bf61"), Error);
}
