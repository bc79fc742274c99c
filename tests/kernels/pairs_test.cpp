// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/pairs.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

// Four runs of 64 codes as they come out of a row, and beside the codes in reverse.
struct Converted {
  alignas(64) std::uint16_t row[256], beside[512];
};

template <class Stored>
KVPLAN_DOT Converted converted() {
  std::byte codes[256], reverse[256];
  for (int code = 0; code < 256; ++code) {
    codes[code] = std::byte(code);
    reverse[code] = std::byte(255 - code);
  }
  Converted out;
  const Stored stored;
  for (int i = 0; i < 256; i += 64) {
    const pairs::Words words = stored.row(codes, i);
    _mm512_store_si512(out.row + i, words.low);
    _mm512_store_si512(out.row + i + 32, words.high);
  }
  for (int i = 0; i < 256; i += 32) {
    const pairs::Words words = stored.two_rows(codes, reverse, i);
    _mm512_store_si512(out.beside + 2 * i, words.low);
    _mm512_store_si512(out.beside + 2 * i + 32, words.high);
  }
  return out;
}

template <class Stored, class Number>
void check(Number number) {
  const Converted out = converted<Stored>();
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    CHECK(from_bf16(out.row[code]) == number(code));
    // Of every eight numbers the first four, then of the next eight; the others 32 pairs' words on.
    const int block = code / 32, eight = code % 32 / 8, n = code % 8;
    const std::uint16_t* pair = out.beside + 64 * block + n / 4 * 32 + eight * 8 + n % 4 * 2;
    CHECK(from_bf16(pair[0]) == number(code));
    CHECK(from_bf16(pair[1]) == number(255 - code));
  }
}

KVPLAN_DOT void sums_of_sixteen(const std::uint16_t* numbers, std::uint16_t* sums) {
  _mm512_storeu_si512(sums, pairs::Fp16::sums(reinterpret_cast<const std::byte*>(numbers), 0));
}

}  // namespace

TEST_CASE("every byte of int8 and of fp8 becomes the bf16 number that it is, in order") {
  if (best_isa() < Isa::dot) {
    MESSAGE("skipped: this CPU has no products of bf16 pairs");
    return;
  }
  check<pairs::Int8>([](int code) { return static_cast<float>(static_cast<std::int8_t>(code)); });
  check<pairs::Fp8>([](int code) { return from_fp8(static_cast<std::uint8_t>(code)); });
}

TEST_CASE("every finite number of fp16 becomes a sum of two bf16 numbers that is exact") {
  if (best_isa() < Isa::dot) {
    MESSAGE("skipped: this CPU has no products of bf16 pairs");
    return;
  }
  int wrong = 0;
  for (int code = 0; code < 0x10000; code += 16) {
    std::uint16_t numbers[16], sums[32];
    for (int i = 0; i < 16; ++i) numbers[i] = static_cast<std::uint16_t>(code + i);
    sums_of_sixteen(numbers, sums);
    for (int i = 0; i < 16; ++i)
      if ((numbers[i] & 0x7c00) != 0x7c00)  // neither infinite nor NaN
        wrong += from_bf16(sums[2 * i]) + from_bf16(sums[2 * i + 1]) != from_fp16(numbers[i]);
  }
  CHECK(wrong == 0);
}
