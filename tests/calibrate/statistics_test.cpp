// SPDX-License-Identifier: Apache-2.0
#include "calibrate/statistics.h"

#include <doctest/doctest.h>

#include "error.h"

using namespace kvplan;

TEST_CASE("quantiles lie between order statistics") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({7}, 0.9) == 7);
  CHECK(quantile({0, 10}, 0.1) == 1);
  CHECK_THROWS_AS(quantile({}, 0.5), Error);
}

TEST_CASE("one outlier moves neither the median nor the absolute deviation much") {
  const Spread clean = spread_of({9, 10, 11, 10, 10}), hit = spread_of({9, 10, 11, 10, 1000});
  CHECK(hit.median == clean.median);
  CHECK(hit.absolute_deviation <= 1.4826);
}

TEST_CASE("a conformal interval leaves a tenth of the residuals on either side") {
  std::vector<double> numbers;
  for (int i = 1; i <= 99; ++i) numbers.push_back(i);
  const Bounds bounds = conformal(numbers, 0.8);  // (99 + 1) · 0.1 = 10th from either end
  CHECK(bounds.low == 10);
  CHECK(bounds.high == 90);
}

TEST_CASE("with few residuals the interval is their whole range") {
  const Bounds bounds = conformal({3, 1, 2}, 0.8);
  CHECK(bounds.low == 1);
  CHECK(bounds.high == 3);
}
