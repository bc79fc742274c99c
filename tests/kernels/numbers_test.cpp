// SPDX-License-Identifier: Apache-2.0
#include "kernels/numbers.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kvplan;

TEST_CASE("fp16 bits become the number that IEEE 754 gives them") {
  CHECK(from_fp16(0x3c00) == 1.0f);
  CHECK(from_fp16(0xc000) == -2.0f);
  CHECK(from_fp16(0x7bff) == 65504.0f);  // largest
  CHECK(from_fp16(0x0400) == 0x1p-14f);  // smallest normal
  CHECK(from_fp16(0x0001) == 0x1p-24f);  // smallest subnormal
  CHECK(from_fp16(0x3555) == doctest::Approx(1.0 / 3).epsilon(3e-4));
  CHECK(std::signbit(from_fp16(0x8000)));
}

TEST_CASE("bf16 bits are the upper half of a float") {
  CHECK(from_bf16(0x3f80) == 1.0f);
  CHECK(from_bf16(0xc2f7) == -123.5f);
}

TEST_CASE("fp8 E4M3 bits become the number of the OCP specification") {
  CHECK(from_fp8(0x38) == 1.0f);
  CHECK(from_fp8(0x7e) == 448.0f);   // largest
  CHECK(from_fp8(0x08) == 0x1p-6f);  // smallest normal
  CHECK(from_fp8(0x01) == 0x1p-9f);  // smallest subnormal
  CHECK(from_fp8(0xb8) == -1.0f);
}

TEST_CASE("each finite fp16 and bf16 survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    if ((b & 0x7c00) != 0x7c00) REQUIRE(to_fp16(from_fp16(b)) == b);
    if ((b & 0x7f80) != 0x7f80) REQUIRE(to_bf16(from_bf16(b)) == b);
  }
}

TEST_CASE("a number halfway between two is rounded to the even one") {
  CHECK(to_bf16(std::bit_cast<float>(0x3f808000u)) == 0x3f80);
  CHECK(to_bf16(std::bit_cast<float>(0x3f818000u)) == 0x3f82);
  CHECK(to_fp16(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(to_fp16(1.0f + 3 * 0x1p-11f) == 0x3c02);
}
