// SPDX-License-Identifier: Apache-2.0
#include "cost/profile.h"

#include <doctest/doctest.h>

#include "cost/transfer.h"

using namespace kvplan;

namespace {

const GemmShape kShape{4, 4096, 4096, &format_named("bf16")};

Fit gemm_fit(std::string format, OperatorClass op = OperatorClass::gemm) {
  GemmLaw law;
  law.floor = Seconds(1e-6);
  law.bandwidth = BytesPerSecond(1e12);
  law.ramp_size = ByteScale(1e7);
  law.rate = FlopsPerSecond(1e15);
  Fit fit;
  fit.op = op;
  fit.format = std::move(format);
  fit.law = law;
  fit.bands = {{Seconds(1e-5), 0.8, 1.5}, {Seconds(1), 0.9, 1.2}};
  return fit;
}

Fit reduction(std::string variant, double bandwidth) {
  CollectiveLaw law;
  law.floor = Seconds(1e-5);
  law.bandwidth = BytesPerSecond(bandwidth);
  law.ramp_size = ByteScale(1e6);
  Fit fit;
  fit.op = OperatorClass::collective;
  fit.variant = std::move(variant);
  fit.law = law;
  fit.bands = {{Seconds(1), 0.9, 1.2}};
  return fit;
}

Profile profile_of(std::vector<Fit> fits) {
  Profile profile;
  profile.fits = std::move(fits);
  return profile;
}

}  // namespace

TEST_CASE("a recurrence that was not measured takes another's law and a wider interval") {
  RecurrenceLaw law;
  law.floor = Seconds(1e-6);
  law.bandwidth = BytesPerSecond(1e12);
  law.rate = FlopsPerSecond(1e18);
  law.cache = ByteScale(1e6);
  Fit fit;
  fit.op = OperatorClass::state_step;
  fit.format = "fp32";
  fit.variant = "gated_delta_net";
  fit.law = law;
  fit.bands = {{Seconds(1), 0.9, 1.1}};
  Profile profile;
  profile.fits = {fit};
  const Format& fp32 = format_named("fp32");
  RecurrenceShape shape{Recurrent::gated_delta_net, 4, 1, 16, 32, 128, 128, 0, 0, &fp32};
  const Estimate own = profile.time(shape).value();
  CHECK(own.low.v == doctest::Approx(0.9 * own.value.v));
  shape.kind = Recurrent::mamba2;
  const Estimate other = profile.time(shape).value();
  CHECK(other.value == own.value);
  CHECK(other.low.v == doctest::Approx(0.79 * own.value.v));
  CHECK(other.high.v == doctest::Approx(1.20 * own.value.v));
  shape.kind = Recurrent::rwkv;
  CHECK_FALSE(profile.time(shape));
  shape.kind = Recurrent::gated_delta_net;
  shape.tokens = 100;  // a prompt, of which there is no law
  CHECK_FALSE(profile.time(shape));
}

TEST_CASE("a profile answers for formats of as many bits and for no others") {
  const Profile profile = profile_of({gemm_fit("fp8")});
  CHECK(profile.time(GemmShape{1, 4096, 4096, &format_named("fp8-block128")}));
  CHECK_FALSE(profile.time(GemmShape{1, 4096, 4096, &format_named("bf16")}));
  CHECK_FALSE(profile.time(MoeShape{1, 4096, 4096, 2, 8, 1, 1, &format_named("fp8")}));
}

TEST_CASE("of several formats of as many bits the one with scales in the same places stands in") {
  const Profile profile = profile_of({gemm_fit("int4-g128"), gemm_fit("q4_k"), gemm_fit("q4_1")});
  const auto stands_in = [&](const char* format) {
    return profile.find(OperatorClass::gemm, format_named(format))->format;
  };
  CHECK(stands_in("q4_k") == "q4_k");
  CHECK(stands_in("q4_0") == "q4_k");  // 18 of 32 bytes are 144 of 256
  CHECK(stands_in("iq4_xs") == "q4_k");
  CHECK(stands_in("int4-g64") == "int4-g128");
}

TEST_CASE("a product of few rows takes the fit of weight streams where there is one") {
  Fit slow = gemm_fit("bf16", OperatorClass::weight_stream);
  std::get<GemmLaw>(slow.law).floor = Seconds(1);
  const GemmShape few{1, 64, 64, &format_named("bf16")}, many{64, 64, 64, &format_named("bf16")};
  const Profile both = profile_of({gemm_fit("bf16"), slow});
  CHECK(both.time(few)->value > Seconds(1));
  CHECK(both.time(many)->value < Seconds(1));
  CHECK(profile_of({gemm_fit("bf16")}).time(few)->value < Seconds(1));
}

TEST_CASE("the interval is that of the band in which a time lies") {
  const Fit fit = gemm_fit("bf16");
  CHECK(fit.around(Seconds(1e-6), kShape).high.v == doctest::Approx(1.5e-6));
  CHECK(fit.around(Seconds(1e-3), kShape).high.v == doctest::Approx(1.2e-3));
  CHECK(fit.around(Seconds(50), kShape).low.v == doctest::Approx(45));  // beyond the last band
}

TEST_CASE("bounds of operators in a row add up, coverage is the weakest") {
  const Estimate one{Seconds(1), Seconds(0.9), Seconds(1.2), 0.8},
      sure{one.value, one.low, one.high, 0.5};
  const Estimate sum = 3 * one + sure;
  CHECK(sum.value.v == doctest::Approx(4));
  CHECK(sum.low.v == doctest::Approx(3.6));
  CHECK(sum.high.v == doctest::Approx(4.8));
  CHECK(sum.coverage == 0.5);
}

TEST_CASE("a reduction takes the quickest library that does it") {
  const Profile profile =
      profile_of({reduction("all_reduce NCCL", 1e11), reduction("all_reduce graph", 2e11),
                  reduction("all_gather NCCL", 9e11)});
  const CollectiveShape sum{CollectiveShape::all_reduce, 2, Bytes(1 << 30)};
  CHECK(profile.time(sum)->value.v ==
        doctest::Approx(profile_of({reduction("all_reduce", 2e11)}).time(sum)->value.v));
  CHECK_FALSE(profile.time(CollectiveShape{CollectiveShape::all_to_all, 2, Bytes(1)}));
}

TEST_CASE("a sibling with twice the bandwidth reads twice as fast, and is trusted less") {
  const Profile profile = profile_of({gemm_fit("bf16"), reduction("all_reduce", 1e11)});
  DeviceSpec from, to;
  from.bandwidth.value = BytesPerSecond(1e12);
  to.bandwidth.value = BytesPerSecond(2e12);
  from.peer = to.peer = Link{"", {BytesPerSecond(3e11), "", false}};
  to.name = "sibling";
  const Profile moved = transferred(profile, from, to);
  CHECK(moved.device == "sibling");
  CHECK(std::get<GemmLaw>(moved.fits[0].law).bandwidth.v == doctest::Approx(2e12));
  CHECK(moved.fits[0].bands[1].low < 0.9);
  CHECK(moved.fits[0].bands[1].high >= 1.2);
  // The link is the same, so messages take as long.
  CHECK(std::get<CollectiveLaw>(moved.fits[1].law).bandwidth.v == doctest::Approx(1e11));
}

TEST_CASE("experts are expected only by a fit of their own scaling") {
  Fit fit;
  fit.op = OperatorClass::moe;
  fit.format = "fp8";
  fit.law = MoeLaw{Seconds(1e-5), Seconds(1e-7), BytesPerSecond(1e12), BytesPerSecond(1e12),
                   FlopsPerSecond(1e15)};
  fit.bands = {{Seconds(1), 0.9, 1.2}};
  const Profile profile = profile_of({fit});
  CHECK(profile.time(MoeShape{1, 4096, 4096, 2, 8, 1, 1, &format_named("fp8")}));
  CHECK_FALSE(profile.time(MoeShape{1, 4096, 4096, 2, 8, 1, 1, &format_named("fp8-block128")}));
}

TEST_CASE("intervals widen with every octave beyond what was measured, and not within") {
  Fit fit = gemm_fit("bf16");
  fit.edges = {{1, 16, {}, {}}, {1024, 8192, {0.8, 1}, {0.9, 1.5}}, {512, 8192, {}, {1, 2}}};
  const auto high = [&](std::int64_t n, std::int64_t k) {
    return fit.around(Seconds(1), GemmShape{4, n, k, kShape.weights}).high.v;
  };
  const auto low = [&](std::int64_t n) {
    return fit.around(Seconds(1), GemmShape{4, n, 4096, kShape.weights}).low.v;
  };
  CHECK(high(8192, 8192) == doctest::Approx(1.2));
  CHECK(high(16384, 8192) == doctest::Approx(1.2 * 1.5));
  CHECK(high(32768, 8192) == doctest::Approx(1.2 * 1.5 * 1.5));
  CHECK(high(16384, 16384) == doctest::Approx(1.2 * 1.5 * 2));  // both axes
  CHECK(low(256) == doctest::Approx(0.9 * 0.8 * 0.8));
  CHECK(low(16384) == doctest::Approx(0.9 * 0.9));
}

TEST_CASE("a corrected law is the law times the factor of the shape, a sibling has the law alone") {
  Fit fit = gemm_fit("bf16");
  const Seconds law = time(fit, kShape);
  fit.correction = Correction{{{{{2, 1}, {12, 1}, {12, 1}}}}, {100}};
  CHECK(time(fit, kShape) / law == doctest::Approx(1.10517).epsilon(1e-5));  // e^0.1
  const DeviceSpec device;
  const Profile sibling = transferred(profile_of({fit}), device, device);
  CHECK(sibling.time(kShape)->value == law);
  CHECK_THROWS_AS(time(fit, MoeShape{1, 4096, 4096, 2, 8, 1, 1, kShape.weights}), Error);
}
