// SPDX-License-Identifier: Apache-2.0
// Stored numbers as bf16, exactly, for products of pairs. Of bytes, a table of 128 magnitudes gives
// the upper and another the lower half (AVX512_VBMI); the sign is the number's own.
#pragma once
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/numbers.h"

namespace kvplan::pairs {

KVPLAN_DOT inline __m512bh as_bf16(__m512i v) { return reinterpret_cast<__m512bh>(v); }

struct Words {
  __m512i low, high;
};

struct Bf16 {
  static constexpr std::int64_t kBytes = 2;

  // Numbers [i, i + 64) of a row.
  KVPLAN_DOT Words row(const std::byte* from, std::int64_t i) const {
    return {_mm512_loadu_si512(from + 2 * i), _mm512_loadu_si512(from + 2 * i + 64)};
  }
  // Numbers [i, i + 32) of two rows, each beside that of the other: of every eight the first four
  // in `low`, the others in `high`.
  KVPLAN_DOT Words two_rows(const std::byte* even, const std::byte* odd, std::int64_t i) const {
    const __m512i a = _mm512_loadu_si512(even + 2 * i), b = _mm512_loadu_si512(odd + 2 * i);
    return {_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)};
  }
};

// Each number as the sum of two, which are exact: 11 bits are 8 and 3.
struct Fp16 {
  // Numbers [i, i + 16) of a row: the greater part in the upper half of a word.
  KVPLAN_DOT static __m512i sums(const std::byte* from, std::int64_t i) {
    const __m512 number =
        _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 2 * i)));
    const __m512i bits = _mm512_castps_si512(number);
    const __m512i upper_half = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    const __m512 upper = _mm512_castsi512_ps(_mm512_and_si512(bits, upper_half));
    const __m512i lower = _mm512_castps_si512(_mm512_sub_ps(number, upper));
    constexpr int kBWhereAElseC = 0xca;
    return _mm512_ternarylogic_epi32(upper_half, bits, _mm512_srli_epi32(lower, 16), kBWhereAElseC);
  }
};

struct Halves {
  alignas(64) std::array<std::uint8_t, 128> upper, lower;
};
constexpr Halves halves_of(float (*number)(std::uint8_t)) {
  Halves halves{};
  for (std::size_t code = 0; code < halves.upper.size(); ++code) {
    const std::uint16_t bits = to_bf16(number(static_cast<std::uint8_t>(code)));
    halves.upper[code] = static_cast<std::uint8_t>(bits >> 8);
    halves.lower[code] = static_cast<std::uint8_t>(bits);
  }
  return halves;
}

// `Number` makes of 64 bytes their magnitudes' codes and upper halves.
template <class Number>
struct Bytes {
  static constexpr std::int64_t kBytes = 1;
  static constexpr Halves kHalves = halves_of(Number::of);
  __m512i upper[2], lower[2], in_row, side_by_side;

  KVPLAN_DOT Bytes() {
    alignas(64) std::uint8_t row_place[64], pair_place[64];
    for (int i = 0; i < 64; ++i) {
      row_place[i] = static_cast<std::uint8_t>(i / 16 * 8 + i % 8 + i / 8 % 2 * 32);
      pair_place[i] = static_cast<std::uint8_t>(i / 2 + i % 2 * 32);
    }
    in_row = _mm512_load_si512(row_place);
    side_by_side = _mm512_load_si512(pair_place);
    for (int half = 0; half < 2; ++half) {
      upper[half] = _mm512_load_si512(kHalves.upper.data() + 64 * half);
      lower[half] = _mm512_load_si512(kHalves.lower.data() + 64 * half);
    }
  }
  KVPLAN_DOT Words row(const std::byte* from, std::int64_t i) const {
    return words(_mm512_permutexvar_epi8(in_row, _mm512_loadu_si512(from + i)));
  }
  KVPLAN_DOT Words two_rows(const std::byte* even, const std::byte* odd, std::int64_t i) const {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(even + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(odd + i));
    return words(
        _mm512_permutexvar_epi8(side_by_side, _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1)));
  }

 private:
  // Unpacking takes the first and the second eight of every 16 bytes.
  KVPLAN_DOT Words words(__m512i codes) const {
    const __m512i magnitudes = Number::magnitudes(codes);
    const __m512i low = _mm512_permutex2var_epi8(lower[0], magnitudes, lower[1]);
    const __m512i high =
        Number::completed(_mm512_permutex2var_epi8(upper[0], magnitudes, upper[1]), magnitudes);
    constexpr int kAOrBAndC = 0xf8;
    const __m512i with_sign = _mm512_ternarylogic_epi32(
        high, codes, _mm512_set1_epi8(static_cast<char>(0x80)), kAOrBAndC);
    return {_mm512_unpacklo_epi8(low, with_sign), _mm512_unpackhi_epi8(low, with_sign)};
  }
};

// E4M3: seven bits of magnitude, which is all that a table looks at.
struct Fp8Code {
  static constexpr float of(std::uint8_t code) { return from_fp8(code); }
  KVPLAN_DOT static __m512i magnitudes(__m512i codes) { return codes; }
  KVPLAN_DOT static __m512i completed(__m512i upper, __m512i) { return upper; }
};
// -128 has eight bits of magnitude.
struct Int8Code {
  static constexpr float of(std::uint8_t code) { return code; }
  KVPLAN_DOT static __m512i magnitudes(__m512i codes) { return _mm512_abs_epi8(codes); }
  KVPLAN_DOT static __m512i completed(__m512i upper, __m512i magnitudes) {
    constexpr char kUpperOf128 = to_bf16(128) >> 8;
    return _mm512_mask_mov_epi8(upper, _mm512_movepi8_mask(magnitudes),
                                _mm512_set1_epi8(kUpperOf128));
  }
};
using Fp8 = Bytes<Fp8Code>;
using Int8 = Bytes<Int8Code>;

}  // namespace kvplan::pairs
