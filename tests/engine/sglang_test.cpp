// SPDX-License-Identifier: Apache-2.0
#include "engine/sglang.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/logged_shape.h"
#include "engine/options.h"
#include "engine/sglang/fraction.h"
#include "engine/sglang/pool.h"
#include "engine/shapes.h"
#include "engine/vllm_models.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

std::unique_ptr<Engine> sglang_of(const ModelSpec& model,
                                  std::map<std::string, std::string> settings,
                                  const Deployment& deployment = on_gpus(1)) {
  const EngineOptions options = engine_options("sglang", std::move(settings));
  return make_engine(options, model, deployment);
}

double share_of(std::int64_t gib, std::int64_t tp, std::map<std::string, std::string> settings = {},
                const char* engine = "sglang@0.5.9") {
  const EngineOptions options = engine_options(engine, std::move(settings));
  Parallelism parallel;
  parallel.tp = tp;
  return sglang::memory_fraction(options, model_of({}), parallel, Bytes(gib * kGiB)).value;
}

}  // namespace

TEST_CASE("caches that SGLang allocated come out to the printed digit") {
  const auto rows = truth_rows("engine_sglang.yaml");
  REQUIRE(rows.size() == 16);
  for (const Node& row : rows) {
    CAPTURE(text_at(row, "model"));
    Deployment deployment;
    deployment.parallel.tp = integer_at(row, "tp", 1);
    deployment.cache = cache_formats(text_at(row, "kv"));
    const auto engine = make_engine(options_at(row, "sglang"), model_at(row), deployment);
    const std::int64_t tokens = integer_at(row, "tokens");
    const std::int64_t page = *engine->capacity(Bytes(kGiB), Tokens(4096)).block_tokens;
    const double gib =
        engine->reserved(Tokens(tokens + page), 1).real() / static_cast<double>(kGiB);
    const double rounding = 0.0051 * static_cast<double>(integer_at(row, "parts", 1));
    CHECK(std::abs(gib - row.find("printed_gib")->number().value()) <= rounding);
    // That pool holds the printed count, and no more than the page beside it.
    const Bytes pool = engine->reserved(Tokens(tokens), 1);
    CHECK(engine->capacity(pool, Tokens(tokens)).kv_tokens == tokens);
  }
}

TEST_CASE("window tokens are a share of the tokens, both in whole pages") {
  // MiMo-V2-Flash at TP4 (sgl-project/sglang#18039): 375,360 tokens, 300,288 window tokens, whose
  // buffers were printed as 8.38 + 5.59 GB.
  const ModelSpec model =
      model_of({{39, attention(8, 160, Window{Tokens(128)})}, {9, attention(4, 160)}});
  const EngineOptions options = engine_options("sglang", {{"page_size", "64"}});
  const auto serving = sglang::serving_of(options, model, {});
  const auto rank = sglang::rank_of(cache_groups(model, cache_formats("bf16")), serving, 4, 48);
  const Bytes pool = sglang::pool_for(Tokens(375360), 1, rank, serving);
  const sglang::Held held = sglang::held_by(pool, rank, serving);
  CHECK(held.tokens == 375360);
  CHECK(held.window_tokens == 300288);
  const double gib = (rank.window_per_page * (300288 / 64 + 1)).real() / static_cast<double>(kGiB);
  CHECK(gib == doctest::Approx(13.97).epsilon(0.001));
}

TEST_CASE("a pool too small for a window and a page is refused") {
  const ModelSpec model =
      model_of({{1, attention(1, 128, Window{Tokens(4096)})}, {1, attention(1, 128)}});
  const auto engine = sglang_of(model, {});
  CHECK_FALSE(engine->capacity(Bytes(1024 * 1024), Tokens(8192)).max_context.has_value());
  CHECK(engine->capacity(Bytes(kGiB), Tokens(8192)).max_context == Tokens(8192));
}

TEST_CASE("the pool of states and that of tokens come out as two public starts printed them") {
  // Qwen3.8-27B-FP8 on an H100: 124 states and one for padding, 330,323 tokens of 65,536 B.
  Bytes state(48 * (3 * 10240 * 2 + 48 * 128 * 128 * 4));
  const Capacity newer = sglang_of(shape_named("qwen-27b"), {{"disable_radix_cache", "true"}})
                             ->capacity(state * 125 + Bytes(330323LL * 65536), Tokens(1));
  CHECK(newer.kv_tokens == 330323);
  CHECK(newer.max_concurrency == doctest::Approx(124));
  // Before, the budget paid for no padding. Qwen3.6-27B-FP8 on an RTX PRO 6000: 154 states.
  const EngineOptions older = engine_options("sglang@0.5.9", {{"disable_radix_cache", "true"}});
  const Capacity c = make_engine(older, shape_named("qwen-27b"), on_gpus(1))
                         ->capacity(state * 154 + Bytes(403904LL * 65536), Tokens(1));
  CHECK(c.kv_tokens == 403904);
  CHECK(c.max_concurrency == doctest::Approx(154));
}

TEST_CASE("a token of DeepSeek-V4-Flash with a draft costs what SGLang printed") {
  // 9,259.90 B: windows of a tenth of the tokens, rings of two windows, one layer more for drafts.
  const auto engine = sglang_of(
      shape_named("v4-flash"), {{"speculative_algorithm", "EAGLE"}, {"max_running_requests", "1"}});
  const Bytes rings(2LL * 2 * 20 * 128 * 2 * 512 * 4);  // of one request and one for padding
  const auto tokens = engine->capacity(rings + Bytes(9259900000), Tokens(1)).kv_tokens.value();
  CHECK(tokens <= 1000000);
  CHECK(tokens > 1000000 - 512);
}

TEST_CASE("states take a share of the pool, three for each request that caches its prefix") {
  const ModelSpec model = model_of({{48, gated_delta_net(48)}, {16, attention(4, 256)}});
  // A state: 48 x (3 x 10,240 x 2 B + 48 x 128 x 128 x 4 B).
  const std::int64_t state = 48 * (3 * 10240 * 2 + 48 * 128 * 128 * 4);
  const Bytes pool(100 * kGiB);
  // One of them is padding.
  const auto states = static_cast<std::int64_t>(pool.real() * 0.9 / 1.9) / state - 1;
  const Capacity plain = sglang_of(model, {})->capacity(pool, Tokens(1));
  CHECK(plain.max_concurrency == doctest::Approx(static_cast<double>(states / 3)));
  CHECK(plain.kv_tokens == (pool.n - (states + 1) * state) / 65536);
  const Capacity without =
      sglang_of(model, {{"disable_radix_cache", "true"}})->capacity(pool, Tokens(1));
  CHECK(without.max_concurrency == doctest::Approx(static_cast<double>(states)));
  const Capacity given =
      sglang_of(model, {{"max_mamba_cache_size", "100"}})->capacity(pool, Tokens(1));
  CHECK(given.max_concurrency == 33);
  CHECK(given.kv_tokens == (pool.n - 101 * state) / 65536);
}

TEST_CASE("what a load reserves holds that load") {
  const std::vector<ModelSpec> models = {
      model_of({{32, attention(8, 128)}}),
      model_of({{10, attention(4, 64)}, {30, attention(8, 64, Window{Tokens(1024)})}}),
      model_of({{48, gated_delta_net(48)}, {16, attention(4, 256)}}),
  };
  for (const ModelSpec& model : models)
    for (const std::int64_t context : {1, 777, 4096, 100001})
      for (const std::int64_t batch : {1, 7, 64}) {
        const auto engine = sglang_of(model, {});
        const Bytes pool = engine->reserved(Tokens(context), batch);
        const Capacity c = engine->capacity(pool, Tokens(context));
        CAPTURE(context);
        CAPTURE(batch);
        CHECK(*c.kv_tokens >= context * batch);
        CHECK(*c.max_concurrency >= static_cast<double>(batch));
      }
}

TEST_CASE("a draft makes every token as much larger as it adds layers") {
  const ModelSpec model = model_of({{32, attention(8, 128)}});
  CHECK(sglang_of(model, {{"speculative_algorithm", "EAGLE"}})->reserved(Tokens(1), 1) ==
        Bytes(33 * 4096));
  CHECK_THROWS_AS(sglang_of(model, {{"speculative_algorithm", "STANDALONE"}}), Error);
}

TEST_CASE("attention that is spread over ranks spreads the requests") {
  const ModelSpec model = model_of({{61, latent()}});
  const auto engine =
      sglang_of(model, {{"enable_dp_attention", "true"}, {"dp_size", "8"}}, on_gpus(8));
  const Bytes one(61 * 576 * 2);
  CHECK(engine->reserved(Tokens(1), 8) == one);
  CHECK(engine->reserved(Tokens(1), 9) == one * 2);
  CHECK(engine->reserved_total(Tokens(1), 8) == one * 8);
}

TEST_CASE("the default share follows the device's memory") {
  // 24 GiB: chunk 2048, batch 24: 512 + 1.5 x 2048 + 2 x 24 + 128 = 3,760 MiB of 24,576.
  CHECK(share_of(24, 1) == doctest::Approx(0.847));
  // 80 GiB: 512 + 1.5 x 8192 + 2 x 256 + 128 = 13,440 MiB of 81,920.
  CHECK(share_of(80, 1) == doctest::Approx(0.836));
  CHECK(share_of(80, 1, {{"chunked_prefill_size", "2048"}}) == doctest::Approx(0.875));  // 10,240
  CHECK(share_of(80, 1, {{"speculative_algorithm", "EAGLE"}}) == doctest::Approx(0.811));
  CHECK(share_of(80, 1, {{"mem_fraction_static", "0.7"}}) == 0.7);
  CHECK_THROWS_AS(share_of(80, 1, {{"mem_fraction_static", "1.5"}}), Error);
}

TEST_CASE("the default share follows the version") {
  const auto share = [](const char* version, std::int64_t gib, std::int64_t tp = 1,
                        std::map<std::string, std::string> set = {}) {
    return share_of(gib, tp, std::move(set), version);
  };
  // By ranks: 0.88 to 0.79; of 140 GiB all but 18 GiB.
  CHECK(share("sglang@0.4.6", 80) == doctest::Approx(0.88));
  CHECK(share("sglang@0.4.6", 80, 8) == doctest::Approx(0.81));
  CHECK(share("sglang@0.4.6", 140) == doctest::Approx(122.0 / 140));
  // By memory: 9.5 GiB and half a GiB a rank of 80; 2.8 and a tenth of 24.
  CHECK(share("sglang@0.4.9", 80) == doctest::Approx(0.875));
  CHECK(share("sglang@0.4.9", 80, 8) == doctest::Approx(0.831));
  CHECK(share("sglang@0.4.9", 24) == doctest::Approx(0.879));
  CHECK(share("sglang@0.4.9", 80, 1, {{"speculative_algorithm", "EAGLE"}}) ==
        doctest::Approx(0.85));
  // By sizes: batch 16, then 24; 42 graphs of the prefill of 8 MiB; chunk 4096, batch 48 and 50.
  CHECK(share("sglang@0.5.3", 24) == doctest::Approx(0.848));
  CHECK(share("sglang@0.5.18", 24) == doctest::Approx(0.833));
  CHECK(share("sglang@0.5.23", 24) == doctest::Approx(0.704));
  // 13,440 MiB and 58 graphs; 4 GiB for a draft, then none.
  CHECK(share("sglang@0.5.12", 80) == doctest::Approx(0.83));
  CHECK(share("sglang@0.5.12", 80, 1, {{"speculative_algorithm", "EAGLE"}}) ==
        doctest::Approx(0.78));
  CHECK(share("sglang@0.5.23", 80, 1, {{"speculative_algorithm", "EAGLE"}}) ==
        doctest::Approx(0.83));
  CHECK(share("sglang@0.5.23", 80, 1, {{"disable_prefill_cuda_graph", "true"}}) ==
        doctest::Approx(0.836));
  CHECK(sglang::prefill_graphs(2048) == 42);
  CHECK(sglang::prefill_graphs(8192) == 58);
}

TEST_CASE("the largest of the sizes that are captured counts") {
  const auto share = [](std::map<std::string, std::string> set) {
    return share_of(24, 1, std::move(set), "sglang@0.5.3");
  };
  CHECK(share({{"cuda_graph_bs", "1,2,4,64"}}) == share({{"cuda_graph_max_bs", "64"}}));
  CHECK(share({{"cuda_graph_bs", "1,2,4,64"}}) < share({{"cuda_graph_bs", "1,2"}}));
}

TEST_CASE("SGLang leaves as many weights to the host as it is told") {
  ModelSpec model = model_of({{32, attention(8, 128)}});
  for (Layer& layer : model.layers)
    layer.weights.push_back({"mlp.up_proj", Role::mlp, 1 << 14, 1 << 12, Sharding::split, 1, 1,
                             true, &format_named("bf16")});  // 128 MiB each
  DeviceSpec device;
  device.memory.value = Bytes(80 * kGiB);
  const auto weights = [&](std::map<std::string, std::string> set) {
    return sglang_of(model, std::move(set))->budget(device).weights.value.n;
  };
  CHECK(weights({}) == 4 * kGiB);
  CHECK(weights({{"cpu_offload_gb", "1"}}) == 3 * kGiB);
  CHECK(weights({{"cpu_offload_gb", "8"}}) == 0);
}

TEST_CASE("what is left is the share of the free memory less the weights") {
  DeviceSpec device;
  device.memory.value = Bytes(80 * kGiB);
  const auto engine = sglang_of(model_of({{32, attention(8, 128)}}), {});
  const Budget b = engine->budget(device);
  CHECK(b.utilization == doctest::Approx(0.83));
  CHECK(b.kv_pool.value == b.memory - b.non_torch.value - b.reserved.value - b.weights.value);
  CHECK(b.kv_pool.low < b.kv_pool.value);
  CHECK(b.kv_pool.value < b.kv_pool.high);
}
