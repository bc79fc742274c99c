// SPDX-License-Identifier: Apache-2.0
// Times made from a known law with noise: the fit must find the law again, and be honest about it.
#include "calibrate/fit.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kvplan;

namespace {

// Deterministic, roughly uniform in [-1, 1].
double wobble(std::size_t i) {
  return std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1) * 2 - 1;
}

GemmLaw known_law() {
  GemmLaw law;
  law.floor = Seconds(3e-6);
  law.per_k = Seconds(1e-9);
  law.bandwidth = BytesPerSecond(2e12);
  law.ramp = 0.05;
  law.ramp_size = ByteScale(5e7);
  law.rate = FlopsPerSecond(5e14);
  law.per_output = law.per_input = Seconds(1e-14);
  return law;
}

std::vector<Measured> gemm_rows(double noise, std::int64_t first = 0) {
  const Format& bf16 = format_named("bf16");
  std::vector<Measured> rows;
  for (const std::int64_t m : {1, 4, 8, 64, 512, 4096})
    for (const std::int64_t n : {512, 1024, 3072, 8192, 16384})
      for (const std::int64_t k : {512, 2048, 4096, 12288}) {
        const GemmShape shape{m, n + first, k, &bf16};
        const Seconds exact = time(known_law(), shape);
        rows.push_back({shape, exact * (1 + noise * wobble(rows.size())), {}});
      }
  return rows;
}

const Fit& fit_named(const std::vector<Fit>& fits, OperatorClass op) {
  for (const Fit& fit : fits)
    if (fit.op == op) return fit;
  throw Error("no such fit");
}

}  // namespace

TEST_CASE("a fit of exact times predicts unseen shapes within two percent") {
  std::vector<Fit> fits = fit_all(gemm_rows(0), {});
  judge(fits, gemm_rows(0, 256), Caches::cold);
  const Fit& fit = fit_named(fits, OperatorClass::gemm);
  REQUIRE(fit.holdout);
  CHECK(fit.holdout->median_ape < 0.02);
  CHECK(std::get<GemmLaw>(fit.law).bandwidth.v == doctest::Approx(2e12).epsilon(0.15));
}

TEST_CASE("a few wild times do not move the fit") {
  std::vector<Measured> rows = gemm_rows(0.02);
  for (std::size_t i = 0; i < rows.size(); i += 17) rows[i].time = rows[i].time * 20;
  std::vector<Fit> fits = fit_all(rows, {});
  judge(fits, gemm_rows(0, 256), Caches::cold);
  CHECK(fit_named(fits, OperatorClass::gemm).holdout->median_ape < 0.05);
}

TEST_CASE("intervals are as wide as the noise and hold about their share of unseen times") {
  std::vector<Fit> fits = fit_all(gemm_rows(0.1), {});
  judge(fits, gemm_rows(0.1, 256), Caches::cold);
  const Fit& fit = fit_named(fits, OperatorClass::gemm);
  CHECK(fit.holdout->coverage > 0.65);
  CHECK(fit.holdout->coverage <= 1);
  for (const Band& band : fit.bands) {
    CHECK(band.low < 1);
    CHECK(band.high > 1);
    CHECK(band.high < 1.5);
  }
}

// Times in proportion to k alone: without a bound the fixed cost falls to nothing, and products
// shorter than any of the table are expected in no time.
TEST_CASE("the shortest launches of a published table bound the fixed cost from below") {
  const Format& bf16 = format_named("bf16");
  std::vector<Measured> rows;
  for (const std::int64_t m : {1, 4, 8})
    for (const std::int64_t n : {64, 128, 256})
      for (const std::int64_t k : {128, 256, 512, 1024, 2048})
        rows.push_back({GemmShape{m, n, k, &bf16}, Seconds(1e-9 * static_cast<double>(k)), {}});
  FitOptions options;
  options.datasheet = DeviceSpec{};
  options.datasheet->bandwidth.value = BytesPerSecond(2e12);  // 64 x 128 numbers in 8 ns
  options.caches = Caches::warm;
  for (const Fit& fit : fit_all(rows, options))
    CHECK(std::get<GemmLaw>(fit.law).floor.v == doctest::Approx(0.6 * 1.28e-7).epsilon(0.01));
  options.caches = Caches::cold;  // measured here, where launches are measured apart
  for (const Fit& fit : fit_all(rows, options))
    CHECK(std::get<GemmLaw>(fit.law).floor.v < 0.1 * 1.28e-7);
}

TEST_CASE("the same rows give the same fit") {
  const auto first = fit_all(gemm_rows(0.05), {}), second = fit_all(gemm_rows(0.05), {});
  CHECK(std::get<GemmLaw>(first[0].law).bandwidth == std::get<GemmLaw>(second[0].law).bandwidth);
  CHECK(first[0].bands[0].low == second[0].bands[0].low);
}
