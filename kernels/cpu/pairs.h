// SPDX-License-Identifier: Apache-2.0
// Stored numbers as bf16, exactly, for products of pairs: 32 numbers [i, i + 32) of a row a time.
#pragma once
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/numbers.h"

namespace kvplan::pairs {

KVPLAN_DOT inline __m512bh as_bf16(__m512i v) { return reinterpret_cast<__m512bh>(v); }

struct Bf16 {
  static constexpr std::int64_t kBytes = 2;
  KVPLAN_DOT __m512i load(const std::byte* row, std::int64_t i) const {
    return _mm512_loadu_si512(row + 2 * i);
  }
};

// Every magnitude of E4M3 is a bf16 number: a table of 128 in four registers, and the sign.
struct Fp8 {
  static constexpr std::int64_t kBytes = 1;
  alignas(64) static constexpr auto kTable = [] {
    std::array<std::uint16_t, 128> numbers{};
    for (unsigned code = 0; code < numbers.size(); ++code)
      numbers[code] = to_bf16(from_fp8(static_cast<std::uint8_t>(code)));
    return numbers;
  }();
  __m512i table[4];

  KVPLAN_DOT Fp8() {
    for (std::size_t t = 0; t < 4; ++t) table[t] = _mm512_load_si512(kTable.data() + 32 * t);
  }
  KVPLAN_DOT __m512i load(const std::byte* row, std::int64_t i) const {
    const __m512i codes =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i)));
    const __m512i small = _mm512_permutex2var_epi16(table[0], codes, table[1]);
    const __m512i large = _mm512_permutex2var_epi16(table[2], codes, table[3]);
    const __mmask32 is_large = _mm512_test_epi16_mask(codes, _mm512_set1_epi16(64));
    const __m512i magnitude = _mm512_mask_mov_epi16(small, is_large, large);
    const __m512i sign = _mm512_set1_epi16(static_cast<short>(0x8000));
    constexpr int kAOrBAndC = 0xf8;
    return _mm512_ternarylogic_epi32(magnitude, _mm512_slli_epi16(codes, 8), sign, kAOrBAndC);
  }
};

// A byte has 8 bits, as many as a bf16 number.
struct Int8 {
  static constexpr std::int64_t kBytes = 1;
  KVPLAN_DOT __m512i load(const std::byte* row, std::int64_t i) const {
    const auto* bytes = reinterpret_cast<const __m128i*>(row + i);
    const __m512 low = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(bytes)));
    const __m512 high = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(bytes + 1)));
    return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  }
};

}  // namespace kvplan::pairs
