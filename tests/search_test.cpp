// SPDX-License-Identifier: Apache-2.0
#include "search.h"

#include <doctest/doctest.h>

using kvplan::largest;

TEST_CASE("the largest fitting number equals a linear scan for every threshold") {
  for (std::int64_t high : {1, 2, 3, 7, 40})
    for (std::int64_t threshold = 0; threshold <= high + 2; ++threshold) {
      std::optional<std::int64_t> expected;
      for (std::int64_t n = 1; n <= high; ++n)
        if (n <= threshold) expected = n;
      CAPTURE(high);
      CAPTURE(threshold);
      CHECK(largest(1, high, [&](std::int64_t n) { return n <= threshold; }) == expected);
    }
}

TEST_CASE("a search evaluates its function a logarithmic number of times") {
  int calls = 0;
  const auto found =
      largest(1, std::int64_t{1} << 62, [&](std::int64_t n) { return ++calls, n <= 123'456'789; });
  CHECK(found == 123'456'789);
  CHECK(calls < 70);
}

TEST_CASE("an empty range and a function that never holds have no largest number") {
  CHECK_FALSE(largest(5, 4, [](std::int64_t) { return true; }));
  CHECK_FALSE(largest(1, 100, [](std::int64_t) { return false; }));
}
