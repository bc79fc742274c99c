// SPDX-License-Identifier: Apache-2.0
// Small pieces of 512-bit kernels: loads of 16 numbers of each format as floats, 2^x, sums.
#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace kvplan::vectors {

// Each loads numbers [i, i + 16) of a row.
struct Fp32 {
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t i) {
    return _mm512_loadu_ps(row + 4 * i);
  }
};
struct Bf16 {
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t i) {
    const auto* bits = reinterpret_cast<const __m256i*>(row + 2 * i);
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(bits)), 16));
  }
};
struct Fp16 {
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t i) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 2 * i)));
  }
};
// E4M3 is a binary16 with a bias of 7 instead of 15: shifted into place it is 2^8 too small.
struct Fp8 {
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + i));
    const __m256i signs_twice = _mm256_slli_epi16(_mm256_cvtepi8_epi16(bytes), 7);
    const __m256i half =
        _mm256_and_si256(signs_twice, _mm256_set1_epi16(static_cast<short>(0xbfff)));
    return _mm512_mul_ps(_mm512_cvtph_ps(half), _mm512_set1_ps(256));
  }
};
struct Int8 {
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + i));
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
  }
};

// A load that is used several times happens once: compilers would repeat it as an operand, and a
// core loads one vector a cycle.
template <class Vector>
[[gnu::always_inline]] KVPLAN_AVX512 inline Vector in_register(Vector v) {
  asm("" : "+v"(v));
  return v;
}

// At least so many bytes before their use: what a core reads (30 GB/s) while memory answers (250
// ns).
constexpr std::int64_t kLeastAhead = 8192;
// Asks for bytes that are needed soon; into the second-level cache, since the first is in use.
// Always inline: g++ takes a function that only prefetches for one without effect, and leaves calls
// out.
[[gnu::always_inline]] inline void fetch(const std::byte* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64)
    _mm_prefetch(reinterpret_cast<const char*>(from + i), _MM_HINT_T1);
}

// Asks for what lies 2 KiB behind these bytes, which are used now. Cores whose second-level cache
// follows streams by itself want no more than to be led over the borders of pages: on a Xeon with
// AMX memory gives 0.9 of its stream so, and 0.7 from 8 KiB on, where requests of the first-level
// cache, which holds 16, are all that is on its way.
constexpr std::int64_t kNear = 2048;
[[gnu::always_inline]] inline void fetch_near(const std::byte* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64)
    _mm_prefetch(reinterpret_cast<const char*>(from + kNear + i), _MM_HINT_T0);
}

// 2^x for x <= 0, relative error 2e-7; what is below 2^-126 becomes 0.
struct PowerOfTwo {
  KVPLAN_AVX512 static __m512 of(__m512 x) {
    const __m512 bounded = _mm512_max_ps(x, _mm512_set1_ps(-200));
    const __m512 whole = _mm512_roundscale_ps(bounded, _MM_FROUND_TO_NEAREST_INT);
    const __m512 f = _mm512_sub_ps(bounded, whole);
    __m512 p = _mm512_set1_ps(1.3333558e-3f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.6181291e-3f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.5504109e-2f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.4022651e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.9314718e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1));
    return _mm512_scalef_ps(p, whole);
  }
};

// The same with relative error 8e-5, which is enough for weights that are rounded to 8 bits, and
// nothing below 2^-126. A sum with 1.5 · 2^23 rounds to a whole number in its lowest bits, which
// are moved to the exponent.
struct CoarsePowerOfTwo {
  KVPLAN_AVX512 static __m512 of(__m512 x) {
    const __m512 bounded = _mm512_max_ps(x, _mm512_set1_ps(-126));
    const __m512 round = _mm512_set1_ps(0x1.8p23f);
    const __m512 sum = _mm512_add_ps(bounded, round);
    const __m512 f = _mm512_sub_ps(bounded, _mm512_sub_ps(sum, round));
    __m512 p = _mm512_set1_ps(5.517167e-2f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.4261112e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.9326099e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.9992807e-1f));
    const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(sum), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), exponent));
  }
};

struct Sum {
  KVPLAN_AVX512 static __m512 of(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }
};
struct Maximum {
  KVPLAN_AVX512 static __m512 of(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
};

// The lanes of each of four vectors become one number, in order.
template <class Of>
[[gnu::always_inline]] KVPLAN_AVX512 inline __m128 folded(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m512d ab = _mm512_castps_pd(Of::of(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
  const __m512d cd = _mm512_castps_pd(Of::of(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
  const __m512 four = Of::of(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                             _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
  const __m512 two = Of::of(four, _mm512_shuffle_f32x4(four, four, 0x4e));
  return _mm512_castps512_ps128(Of::of(two, _mm512_shuffle_f32x4(two, two, 0xb1)));
}

}  // namespace kvplan::vectors
