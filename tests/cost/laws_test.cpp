// SPDX-License-Identifier: Apache-2.0
#include "cost/laws.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

const Format& bf16() { return format_named("bf16"); }

DecodeAttentionLaw decode_law() {
  DecodeAttentionLaw law;
  law.floor = Seconds(1e-5);
  law.bandwidth = BytesPerSecond(1e12);
  law.split = law.unsplit = BytesPerSecond(1e12);
  law.cache = ByteScale(4e7);
  return law;
}

}  // namespace

TEST_CASE("a long read takes the floor and its bytes over the bandwidth") {
  DecodeAttentionLaw law = decode_law();
  law.sharpness = 8;
  // 64 sequences of 16384 tokens, 8 heads of 2 · 128 numbers of 2 bytes: 4.29 GB.
  const DecodeAttentionShape shape{64, 32, 8, 128, 128, 16384, &bf16(), &bf16()};
  CHECK(time(law, shape).v == doctest::Approx(1e-5 + 4.295e9 / 1e12).epsilon(0.01));
}

TEST_CASE("times never fall as a context grows") {
  const DecodeAttentionLaw law = decode_law();
  Seconds before;
  for (std::int64_t context = 1; context < 200000; context = context * 2 + 1) {
    const Seconds now =
        time(law, DecodeAttentionShape{4, 32, 8, 128, 128, context, &bf16(), &bf16()});
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("a cold cache is never faster than a warm one") {
  const DecodeAttentionLaw law = decode_law();
  for (const std::int64_t context : {64, 4096, 65536}) {
    const DecodeAttentionShape shape{1, 32, 8, 128, 128, context, &bf16(), &bf16()};
    CHECK(time(law, shape, Caches::cold) >= time(law, shape, Caches::warm));
  }
}

TEST_CASE("a step reads and writes its states once, and chunks of a prompt wait for each other") {
  RecurrenceLaw law;
  law.floor = Seconds(1e-6);
  law.bandwidth = BytesPerSecond(1e12);
  law.rate = FlopsPerSecond(1e18);
  law.per_token = Seconds(1e-8);
  law.cache = ByteScale(1e6);
  law.sharpness = 8;
  const Format& fp32 = format_named("fp32");
  RecurrenceShape shape{Recurrent::gated_delta_net, 64, 1, 16, 48, 128, 128, 0, 0, &fp32};
  // 64 sequences of 48 matrices of 128 · 128 numbers of 4 bytes, twice: 403 MB.
  CHECK(time(law, shape).v == doctest::Approx(1e-6 + 4.03e8 / 1e12).epsilon(0.01));
  shape.batch = 1;
  shape.tokens = 65536;
  CHECK(time(law, shape).v == doctest::Approx(65536 * 1e-8).epsilon(0.05));
}

TEST_CASE("queries of a sparse attention pair with all tokens before them and attend to a few") {
  SparseLatentShape shape;
  shape.batch = 2;
  shape.chosen = 100;
  shape.past = 40;
  CHECK(pairs_of(shape).all == 2 * 41);
  CHECK(pairs_of(shape).chosen == 2 * 41);
  shape.past = 1000;
  CHECK(pairs_of(shape).all == 2 * 1001);
  CHECK(pairs_of(shape).chosen == 2 * 100);
  // 80 queries after 40: they see 41, 42, ... 120 tokens, the first 60 no more than 100.
  shape.past = 40;
  shape.queries = 80;
  CHECK(pairs_of(shape).all == 2 * (80 * 40 + 80 * 81 / 2));
  CHECK(pairs_of(shape).chosen == 2 * (60 * 40 + 60 * 61 / 2 + 20 * 100));
}

TEST_CASE("a step of a sparse attention adds up its weights, its index keys and what it chose") {
  SparseLatentLaw law;
  law.floor = Seconds(1e-5);
  law.indexer = Seconds(2e-6);
  law.bandwidth = BytesPerSecond(1e12), law.scan = BytesPerSecond(5e11);
  law.gather = BytesPerSecond(2.5e11);
  law.rate = law.score_rate = law.attention_rate = FlopsPerSecond(1e18);
  law.sharpness = 8;
  SparseLatentShape shape;
  shape.past = 65535;
  shape.index_heads = 64;
  shape.parameters = 50'000'000;
  shape.weights = shape.latent_format = shape.rope_format = shape.index_format = &bf16();
  // 100 MB of weights, 65,536 keys of 256 bytes, 2,048 tokens of 1,152 bytes.
  const double expected = 1e-5 + 2e-6 + 1e8 / 1e12 + 65536 * 256 / 5e11 + 2048 * 1152 / 2.5e11;
  CHECK(time(law, shape).v == doctest::Approx(expected).epsilon(0.001));
  shape.index_heads = 0;  // another layer's choice
  CHECK(time(law, shape).v == doctest::Approx(1e-5 + 1e-4 + 2048 * 1152 / 2.5e11).epsilon(0.001));
}

TEST_CASE("a pass over k is linear until k is split, then grows by a small power of it") {
  GemmLaw law;
  law.per_k = Seconds(1e-9);
  law.split_k = 1000;
  law.beyond_split = 0.1;
  law.bandwidth = BytesPerSecond(1e15);  // the pass alone is left
  law.rate = FlopsPerSecond(1e18);
  law.ramp_size = ByteScale(1);
  law.memory_sharpness = 8;
  const auto at = [&](std::int64_t m, std::int64_t k) {
    return time(law, GemmShape{m, 64, k, &bf16()}).v;
  };
  CHECK(at(4, 250) == doctest::Approx(2.5e-7).epsilon(0.01));
  // From 16,000 to 64,000: 4^0.1 = 1.1487.
  CHECK(at(4, 64000) / at(4, 16000) == doctest::Approx(1.1487).epsilon(0.01));
  law.single_split = 1000;  // a row alone is not split yet
  CHECK(at(1, 64000) / at(1, 16000) == doctest::Approx(4).epsilon(0.02));
}

TEST_CASE("a product over half a tile of k takes as long as one over a tile") {
  GemmLaw law;
  law.floor = Seconds(2.35e-6);
  law.per_k = Seconds(8.4e-9);
  law.bandwidth = BytesPerSecond(1e15);  // what is left: the launch and the pass
  law.rate = FlopsPerSecond(1e18);
  law.ramp_size = ByteScale(1);
  law.memory_sharpness = 8;
  // Times of the A100 with m = 4, n = 1,024 (vLLM, ai-dynamo/aiconfigurator@095f58a).
  for (const auto& [k, microseconds] :
       {std::pair{32, 2.892}, std::pair{64, 2.903}, std::pair{128, 3.415}, std::pair{256, 4.511}})
    CHECK(1e6 * time(law, GemmShape{4, 1024, k, &bf16()}).v ==
          doctest::Approx(microseconds).epsilon(0.03));
}
