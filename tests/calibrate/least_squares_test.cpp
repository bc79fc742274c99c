// SPDX-License-Identifier: Apache-2.0
#include "calibrate/least_squares.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

// Seven of ten observations say 1, three say 2.
double found_with(Loss loss, double start) {
  const Residuals residuals = [](const std::vector<double>& x, std::vector<double>& out) {
    out.clear();
    for (int i = 0; i < 10; ++i) out.push_back(x[0] - (i < 7 ? 1 : 2));
  };
  return minimise(residuals, {start}, {{-10}, {10}}, {loss, 0.05, 0, 80}).at[0];
}

}  // namespace

TEST_CASE("Cauchy's loss settles where most observations agree, soft-L1 gives way to the others") {
  const double soft = found_with(Loss::soft_l1, 0), cauchy = found_with(Loss::cauchy, soft);
  // Soft-L1: 7 r / √(1 + r²) = 3 with the others far off, r = 3 / √40 of 0.05.
  CHECK(soft == doctest::Approx(1 + 0.05 * 0.4743).epsilon(0.002));
  // Cauchy: 7 r / (1 + r²) = 3 · 20 / (1 + 20²), r = 0.0214 of 0.05.
  CHECK(cauchy == doctest::Approx(1 + 0.05 * 0.0214).epsilon(0.002));
}

TEST_CASE("a constant stays inside its box") {
  const Residuals residuals = [](const std::vector<double>& x, std::vector<double>& out) {
    out = {x[0] - 5};
  };
  CHECK(minimise(residuals, {0}, {{-1}, {2}}, {Loss::soft_l1, 1, 0, 80}).at[0] == 2);
}
