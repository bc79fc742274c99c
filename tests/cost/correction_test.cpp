// SPDX-License-Identifier: Apache-2.0
#include "cost/correction.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kvplan;

namespace {

// 1 and 2 rows; n = 1024, 2048, 4096; one k. Logarithms 0, 0.1, 0.2 and 0.4, 0.5, 0.6.
const Correction kCorrection{{{{{0, 2}, {10, 3}, {12, 1}}}}, {0, 100, 200, 400, 500, 600}};

double log_at(std::int64_t m, std::int64_t n, std::int64_t k = 4096) {
  return std::log(kCorrection.of({m, n, k, &format_named("bf16")}));
}

}  // namespace

TEST_CASE(
    "a correction is what its node says at a power of two, and linear in logarithms between") {
  CHECK(log_at(1, 2048) == doctest::Approx(0.1));
  CHECK(log_at(2, 4096) == doctest::Approx(0.6));
  CHECK(log_at(1, 1448) == doctest::Approx(0.05).epsilon(1e-3));  // 1024 times the root of 2
}

TEST_CASE("a correction stays what it is at the edge of the lattice beyond it") {
  CHECK(log_at(1, 1) == doctest::Approx(0));
  CHECK(log_at(64, 1'000'000, 7) == doctest::Approx(0.6));
}
