// SPDX-License-Identifier: Apache-2.0
#include "calibrate/interval.h"

#include <doctest/doctest.h>

#include <cmath>

#include "calibrate/left_out.h"

using namespace kvplan;

namespace {

// Deterministic, uniform in (0, 1): multiples of the golden ratio (Weyl).
double uniform(std::size_t i) {
  return std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1);
}

// Predictions around 1 ms whose errors spread over ± `spread` of their logarithm.
std::vector<Prediction> noisy(std::size_t count, std::size_t first, double spread) {
  std::vector<Prediction> all;
  for (std::size_t i = 0; i < count; ++i) {
    const Seconds predicted(1e-3 * (1 + static_cast<double>(i % 17)));
    all.push_back({predicted, predicted * std::exp(spread * (2 * uniform(first + i) - 1))});
  }
  return all;
}

}  // namespace

TEST_CASE("an interval holds its share of times drawn from the same noise") {
  for (const double coverage : {0.5, 0.8, 0.95}) {
    Fit fit;
    fit.bands = bands_of(noisy(900, 0, 0.2), coverage);
    const Quality quality = quality_of(noisy(900, 5000, 0.2), fit);
    CHECK(quality.coverage == doctest::Approx(coverage).epsilon(0.05));
  }
}

TEST_CASE("short and long launches have intervals of their own") {
  std::vector<Prediction> all = noisy(300, 0, 0.5);
  for (const Prediction& p : noisy(300, 0, 0.05))
    all.push_back({p.predicted * 1e3, p.measured * 1e3});
  const auto bands = bands_of(all, 0.8);
  REQUIRE(bands.size() == 3);
  CHECK(bands.front().high > 1.3);
  CHECK(bands.back().high < 1.1);
}

TEST_CASE("errors of one prediction are what they are") {
  Fit fit;
  fit.bands = {{Seconds(1), 0.9, 1.1}};
  const Quality quality = quality_of({{Seconds(1.2), Seconds(1)}}, fit);
  CHECK(quality.samples == 1);
  CHECK(quality.median_ape == doctest::Approx(0.2));
  CHECK(quality.coverage == 0);  // 1 lies below 0.9 · 1.2
}

TEST_CASE("each value of an axis is left out once, with all its rows") {
  const Format* bf16 = &format_named("bf16");
  std::vector<Measured> rows;
  for (const std::int64_t m : {1, 2, 4, 8, 16})
    for (const std::int64_t n : {64, 128, 256})
      rows.push_back({GemmShape{m, n, 512, bf16}, Seconds(1e-5)});
  MeasuredRows pointers;
  for (const Measured& row : rows) pointers.push_back(&row);
  const auto folds = folds_of(pointers, 1);
  CHECK(folds.size() == 6);  // of m and of n; k has one value only
  std::size_t out = 0;
  for (const Fold& fold : folds) {
    CHECK(fold.kept.size() + fold.out.size() == rows.size());
    for (const Measured* a : fold.kept)
      for (const Measured* b : fold.out) CHECK(a->shape != b->shape);
    out += fold.out.size();
    CHECK((fold.values == 5 || fold.values == 3));
  }
  CHECK(out == 2 * rows.size());
}
