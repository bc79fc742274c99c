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
  CHECK(at(4, 100) == doctest::Approx(1e-7).epsilon(0.01));
  // From 16,000 to 64,000: 4^0.1 = 1.1487.
  CHECK(at(4, 64000) / at(4, 16000) == doctest::Approx(1.1487).epsilon(0.01));
  law.single_split = 1000;  // a row alone is not split yet
  CHECK(at(1, 64000) / at(1, 16000) == doctest::Approx(4).epsilon(0.02));
}
