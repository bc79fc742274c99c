// SPDX-License-Identifier: Apache-2.0
#include "cost/profile.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

DeviceSpec device() {
  DeviceSpec d;
  d.bandwidth.value = BytesPerSecond(1e12);
  d.peaks = {{Precision::bf16, false, {FlopsPerSecond(1e14), "", false}}};
  return d;
}

Fit fit(OperatorClass op, std::string format = {}, double share = 1) {
  Fit f;
  f.op = op;
  f.format = std::move(format);
  f.bandwidth_share = share;
  return f;
}

Demand streaming(std::int64_t n, std::int64_t k) {
  return demand_of(GemmShape{1, n, k, &format_named("bf16")});
}

}  // namespace

TEST_CASE("an operator takes its start, its serial work and its bytes") {
  Fit f = fit(OperatorClass::weight_stream, "", 0.8);
  f.start = Seconds(3e-6);
  f.per_serial = Seconds(1e-9);
  const Demand demand = streaming(4096, 4096);
  // (4096 x 4096 + 2 x 4096) x 2 B at 0.8 TB/s, 4096 steps of 1 ns; arithmetic adds at sharpness 1.
  const double bytes = 2.0 * (4096.0 * 4096 + 2 * 4096), flops = 2.0 * 4096 * 4096;
  CHECK(f.time(demand, device()).value.v ==
        doctest::Approx(3e-6 + 4096e-9 + bytes / 0.8e12 + flops / 1e14));
}

TEST_CASE("a sharp fit hides the shorter of memory and arithmetic") {
  Fit f = fit(OperatorClass::gemm);
  f.sharpness = 50;
  const Demand demand = demand_of(GemmShape{4096, 4096, 4096, &format_named("bf16")});
  CHECK(f.time(demand, device()).value.v ==
        doctest::Approx(2.0 * 4096.0 * 4096 * 4096 / 1e14).epsilon(0.01));
}

TEST_CASE("few blocks cannot use the whole bandwidth") {
  Fit f = fit(OperatorClass::decode_attention);
  f.per_block_byte = Seconds(1e-10);
  DecodeAttentionShape few{1, 8, 8, 128, 128, 256, &format_named("bf16"), &format_named("bf16")};
  DecodeAttentionShape many = few;
  many.batch = 64;
  const auto rate = [&](const DecodeAttentionShape& s) {
    return work_of(s).moved / f.time(demand_of(s), device()).value;
  };
  CHECK(rate(few) < rate(many));
}

TEST_CASE("a profile answers with its most particular fit, and not at all for an unknown class") {
  Profile profile;
  profile.fits = {fit(OperatorClass::weight_stream, "", 0.5),
                  fit(OperatorClass::weight_stream, "bf16", 0.9)};
  const auto wide = profile.time(streaming(4096, 4096), device());
  const auto narrow =
      profile.time(demand_of(GemmShape{1, 4096, 4096, &format_named("int4")}), device());
  REQUIRE(wide);
  REQUIRE(narrow);
  CHECK(wide->value.v ==
        doctest::Approx(profile.fits[1].time(streaming(4096, 4096), device()).value.v));
  CHECK(narrow->value > Seconds(4096.0 * 4096 / 2 / 0.5e12));
  CHECK_FALSE(profile.time(demand_of_collective(Bytes(1000), 2), device()));
}

TEST_CASE("bounds follow the held-out ratios and add up, coverage is the weakest") {
  Fit f = fit(OperatorClass::weight_stream);
  f.ratio_low = 0.9, f.ratio_high = 1.2, f.coverage = 0.8;
  const Estimate one = f.time(streaming(1024, 1024), device());
  CHECK(one.low.v == doctest::Approx(0.9 * one.value.v));
  Estimate sure = one;
  sure.coverage = 0.5;
  const Estimate sum = 3 * one + sure;
  CHECK(sum.high.v == doctest::Approx(4 * 1.2 * one.value.v));
  CHECK(sum.coverage == 0.5);
}
