// SPDX-License-Identifier: Apache-2.0
#include "cost/laws.h"

#include <doctest/doctest.h>

#include "cost/law_profile.h"

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

TEST_CASE("a profile answers for formats of as many bits and for no others") {
  LawProfile profile;
  LawFit fit;
  fit.op = "gemm";
  fit.format = "fp8";
  GemmLaw law;
  law.floor = Seconds(1e-6);
  law.bandwidth = BytesPerSecond(1e12);
  law.ramp_size = ByteScale(1e7);
  law.rate = FlopsPerSecond(1e15);
  fit.law = law;
  fit.bands = {{Seconds(1), 0.9, 1.2}};
  profile.fits.push_back(fit);
  const auto found = profile.time(GemmShape{1, 4096, 4096, &format_named("fp8-block128")});
  REQUIRE(found);
  CHECK(found->low == found->value * 0.9);
  CHECK(found->high == found->value * 1.2);
  CHECK(!profile.time(GemmShape{1, 4096, 4096, &bf16()}));
}

TEST_CASE("a sibling with twice the bandwidth reads twice as fast, and is trusted less") {
  LawProfile profile;
  LawFit fit;
  fit.op = "decode_attention";
  fit.format = "bf16";
  fit.law = decode_law();
  fit.bands = {{Seconds(1), 0.95, 1.05}};
  profile.fits.push_back(fit);
  DeviceSpec from, to;
  from.bandwidth.value = BytesPerSecond(1e12);
  to.bandwidth.value = BytesPerSecond(2e12);
  const LawProfile moved = transferred(profile, from, to);
  CHECK(std::get<DecodeAttentionLaw>(moved.fits[0].law).bandwidth.v == doctest::Approx(2e12));
  CHECK(moved.fits[0].bands[0].low < 0.95);
  CHECK(moved.fits[0].bands[0].high >= 1.05);
}
