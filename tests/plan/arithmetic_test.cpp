// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>

#include "plan/caching.h"
#include "plan/reservation.h"
#include "plan/speculation.h"

using namespace kvplan;

TEST_CASE(
    "without a cache a thousand tokens cost 667 times the attention and 500.5 times the "
    "projections") {
  const CachingWork work = caching_work(1000);
  CHECK(work.pairs_cached == 500'500);
  CHECK(work.pairs_uncached == 333'833'500);
  CHECK(work.pairs_uncached / work.pairs_cached == doctest::Approx(667));
  CHECK(work.tokens_uncached / work.tokens_cached == doctest::Approx(500.5));
}

TEST_CASE("a pass yields one token when nothing is accepted and all of them when everything is") {
  CHECK(expected_tokens_per_pass(0, 5) == 1);
  CHECK(expected_tokens_per_pass(1, 5) == 6);
  // Leviathan et al. 2023, equation 1: (1 - 0.8^5) / (1 - 0.8) = 3.3616.
  CHECK(expected_tokens_per_pass(0.8, 4) == doctest::Approx(3.3616));
}

TEST_CASE(
    "speculation with a free draft gains what a pass yields, and a useless draft only costs") {
  CHECK(speculative_speedup(0.8, 4, 0, 1) == doctest::Approx(3.3616));
  CHECK(speculative_speedup(0, 4, 0.05, 1) == doctest::Approx(1 / 1.2));
}

TEST_CASE("contiguous reservation wastes 1 - mean / max, blocks the rest of the last block") {
  const std::array<std::int64_t, 2> lengths = {100, 300};
  const Waste waste = reservation_waste(lengths, 400, 16);
  CHECK(waste.contiguous == doctest::Approx(1 - 200.0 / 400));
  // 100 and 300 tokens take 7 and 19 blocks of 16: 416 slots for 400 tokens.
  CHECK(waste.paged == doctest::Approx(1 - 400.0 / 416));
}

TEST_CASE("lengths outside the reservation are refused") {
  const std::array<std::int64_t, 1> zero = {0}, long_one = {401};
  CHECK_THROWS_AS(reservation_waste(zero, 400, 16), Error);
  CHECK_THROWS_AS(reservation_waste(long_one, 400, 16), Error);
  CHECK_THROWS_AS(reservation_waste({}, 400, 16), Error);
}
