// SPDX-License-Identifier: Apache-2.0
#include "units.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <type_traits>

using namespace kvplan;

namespace {
template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};
}  // namespace

TEST_CASE("bytes and tokens cannot be added") {
  CHECK(addable<Bytes, Bytes>);
  CHECK_FALSE(addable<Bytes, Tokens>);
  CHECK_FALSE(addable<Bytes, std::int64_t>);
  CHECK_FALSE(addable<Seconds, Flops>);
}

TEST_CASE("a sum or product of bytes that does not fit is an error, not a wrap") {
  const Bytes most(std::numeric_limits<std::int64_t>::max());
  CHECK_THROWS_AS(most + Bytes(1), Error);
  CHECK_THROWS_AS(most * 2, Error);
  CHECK_THROWS_AS(Bytes(-2) - most, Error);
  CHECK((most - Bytes(1)) + Bytes(1) == most);
}

TEST_CASE("a product that overflows 64 bits is exact when the quotient fits") {
  const std::int64_t big = std::int64_t{1} << 40;
  CHECK(mul_div(big, big, big) == big);
  CHECK_THROWS_AS(mul_div(big, big, 1), Error);
}

TEST_CASE("ceil_div rounds up and only up") {
  CHECK(ceil_div(0, 7) == 0);
  CHECK(ceil_div(7, 7) == 1);
  CHECK(ceil_div(8, 7) == 2);
  CHECK(round_up(8, 7) == 14);
}

TEST_CASE("rates divide quantities into seconds and back") {
  const Seconds t = Bytes(2'000'000'000) / BytesPerSecond(1e9);
  CHECK(t.v == doctest::Approx(2.0));
  CHECK((Flops(4e12) / t).v == doctest::Approx(2e12));
}
