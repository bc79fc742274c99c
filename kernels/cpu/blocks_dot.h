// SPDX-License-Identifier: Apache-2.0
// As blocks.h, in registers: lane s holds four codes of group s, so that all products of a group
// add up in one lane, which then meets its scale.
#pragma once
#include <immintrin.h>

#include <array>
#include <bit>

#include "kernels/cpu/blocks.h"
#include "kernels/cpu/isa.h"

namespace kvplan::blocks::dot {

// Byte b of lane s of codes[j] is the code of number 16 s + 4 j + b.
struct Parts {
  __m512i codes[4];
  __m512 scales, offsets;  // of group s in lane s
};

struct Lanes {
  alignas(64) std::array<std::int32_t, kGroups> of{};
};
template <class Value>
constexpr Lanes lanes(Value value) {
  Lanes all;
  for (std::size_t s = 0; s < all.of.size(); ++s) all.of[s] = value(static_cast<int>(s));
  return all;
}
KVPLAN_DOT inline __m512i vector(const Lanes& lanes) { return _mm512_load_si512(lanes.of.data()); }

// Bits of all groups from bytes that several groups share: which four bytes lane s takes of those
// for j = 0 (they are followed by those for j = 1, …), and by how much they turn right.
template <int (*kPlace)(int s), int (*kTurn)(int s)>
struct Bits {
  static constexpr Lanes kPlaces = lanes(kPlace);
  static constexpr Lanes kTurns = lanes([](int s) { return kTurn(s) & 31; });

  [[gnu::always_inline]] KVPLAN_DOT static __m512i places(int j) {
    return _mm512_add_epi32(vector(kPlaces), _mm512_set1_epi32(j));
  }
  // Of 64 bytes, or of the first of them.
  [[gnu::always_inline]] KVPLAN_DOT static __m512i of(__m512i from, int j) {
    return _mm512_rorv_epi32(_mm512_permutexvar_epi32(places(j), from), vector(kTurns));
  }
  // Of 128 bytes.
  [[gnu::always_inline]] KVPLAN_DOT static __m512i of(__m512i low, __m512i high, int j) {
    return _mm512_rorv_epi32(_mm512_permutex2var_epi32(low, places(j), high), vector(kTurns));
  }
};

// Four bits of all groups from 128 bytes, left where they are: groups of the upper halves have
// sixteen times their codes, and for that a sixteenth of their scales.
template <int (*kPlace)(int s), bool (*kUpper)(int s)>
struct Nibbles {
  static constexpr Lanes kPlaces = lanes(kPlace);
  static constexpr Lanes kMasks =
      lanes([](int s) { return static_cast<std::int32_t>(kUpper(s) ? 0xf0f0f0f0u : 0x0f0f0f0fu); });
  static constexpr Lanes kShares =
      lanes([](int s) { return std::bit_cast<std::int32_t>(kUpper(s) ? 1 / 16.0f : 1.0f); });

  [[gnu::always_inline]] KVPLAN_DOT static void codes(__m512i low, __m512i high, Parts& to) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const __m512i places = _mm512_add_epi32(vector(kPlaces), _mm512_set1_epi32(j));
      to.codes[j] = _mm512_and_si512(_mm512_permutex2var_epi32(low, places, high), vector(kMasks));
    }
  }
  [[gnu::always_inline]] KVPLAN_DOT static __m512 shares_of(__m512 scales) {
    return _mm512_mul_ps(scales, _mm512_castsi512_ps(vector(kShares)));
  }
};

[[gnu::always_inline]] KVPLAN_DOT inline __m512i masked(__m512i bits, char mask) {
  return _mm512_and_si512(bits, _mm512_set1_epi8(mask));
}
// `more` in the places of `mask`, else `bits`.
[[gnu::always_inline]] KVPLAN_DOT inline __m512i joined(__m512i bits, __m512i more, char mask) {
  constexpr int kAOrBAndC = 0xf8;
  return _mm512_ternarylogic_epi32(bits, more, _mm512_set1_epi8(mask), kAOrBAndC);
}
[[gnu::always_inline]] KVPLAN_DOT inline __m512i load(const std::byte* from) {
  return _mm512_loadu_si512(from);
}
// The same 32 bytes twice.
[[gnu::always_inline]] KVPLAN_DOT inline __m512i twice(const std::byte* from) {
  return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
[[gnu::always_inline]] KVPLAN_DOT inline __m128i sixteen(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
// An fp16 number in all lanes.
[[gnu::always_inline]] KVPLAN_DOT inline __m512 everywhere(const std::byte* from) {
  return _mm512_cvtph_ps(_mm256_set1_epi16(blocks::load<std::int16_t>(from)));
}
[[gnu::always_inline]] KVPLAN_DOT inline __m512 times(__m512 factor, __m512i numbers) {
  return _mm512_mul_ps(factor, _mm512_cvtepi32_ps(numbers));
}
// Eight bytes, each for two groups.
[[gnu::always_inline]] KVPLAN_DOT inline __m512i pairwise(std::uint64_t bytes) {
  const __m128i eight = _mm_cvtsi64_si128(static_cast<std::int64_t>(bytes));
  return _mm512_cvtepu8_epi32(_mm_unpacklo_epi8(eight, eight));
}

struct Q8_0 {
  static constexpr std::int64_t kBytes = blocks::Q8_0::kBytes;
  static constexpr std::int64_t kBlock = blocks::Q8_0::kBlock;

  // Groups v, 4 + v, 8 + v and 12 + v, then four numbers of each in turn.
  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    __m512i g[4];
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < 4; ++v) {
      const std::byte* first = from + kBlock * (v / 2) + 2 + 16 * (v % 2);
      g[v] = _mm512_castsi128_si512(sixteen(first));
      g[v] = _mm512_inserti32x4(g[v], sixteen(first + 2 * kBlock), 1);
      g[v] = _mm512_inserti32x4(g[v], sixteen(first + 4 * kBlock), 2);
      g[v] = _mm512_inserti32x4(g[v], sixteen(first + 6 * kBlock), 3);
      g[v] = _mm512_xor_si512(g[v], _mm512_set1_epi8(static_cast<char>(0x80)));
    }
    const __m512i low01 = _mm512_unpacklo_epi32(g[0], g[1]),
                  low23 = _mm512_unpacklo_epi32(g[2], g[3]);
    const __m512i high01 = _mm512_unpackhi_epi32(g[0], g[1]),
                  high23 = _mm512_unpackhi_epi32(g[2], g[3]);
    to.codes[0] = _mm512_unpacklo_epi64(low01, low23);
    to.codes[1] = _mm512_unpackhi_epi64(low01, low23);
    to.codes[2] = _mm512_unpacklo_epi64(high01, high23);
    to.codes[3] = _mm512_unpackhi_epi64(high01, high23);
    to.scales = all_scales(from);
    to.offsets = _mm512_mul_ps(to.scales, _mm512_set1_ps(blocks::Q8_0::kZero));
  }

 private:
  [[gnu::always_inline]] KVPLAN_DOT static __m512 all_scales(const std::byte* from) {
    alignas(16) std::array<std::uint16_t, 8> bits;
    for (std::size_t b = 0; b < bits.size(); ++b)
      bits[b] = blocks::load<std::uint16_t>(from + kBlock * static_cast<std::int64_t>(b));
    const __m128i eight = _mm_setr_epi16(static_cast<short>(bits[0]), static_cast<short>(bits[1]),
                                         static_cast<short>(bits[2]), static_cast<short>(bits[3]),
                                         static_cast<short>(bits[4]), static_cast<short>(bits[5]),
                                         static_cast<short>(bits[6]), static_cast<short>(bits[7]));
    const __m256i both =
        _mm256_setr_m128i(_mm_unpacklo_epi16(eight, eight), _mm_unpackhi_epi16(eight, eight));
    return _mm512_cvtph_ps(both);
  }
};

struct Q4_0 {
  static constexpr std::int64_t kBytes = blocks::Q4_0::kBytes;
  static constexpr std::int64_t kBlock = blocks::Q4_0::kBlock;
  using Codes = Nibbles<[](int s) { return s / 2 * 4; }, [](int s) { return s % 2 == 1; }>;

  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    __m512i four[2];
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const std::byte* first = from + 4 * kBlock * h + 2;
      four[h] = _mm512_castsi128_si512(sixteen(first));
      four[h] = _mm512_inserti32x4(four[h], sixteen(first + kBlock), 1);
      four[h] = _mm512_inserti32x4(four[h], sixteen(first + 2 * kBlock), 2);
      four[h] = _mm512_inserti32x4(four[h], sixteen(first + 3 * kBlock), 3);
    }
    Codes::codes(four[0], four[1], to);
    const __m512 scales = all_scales(from);
    to.scales = Codes::shares_of(scales);
    to.offsets = _mm512_mul_ps(scales, _mm512_set1_ps(blocks::Q4_0::kZero));
  }

 private:
  // Every ninth word, all within 128 bytes.
  [[gnu::always_inline]] KVPLAN_DOT static __m512 all_scales(const std::byte* from) {
    const __m256i places =
        _mm256_setr_epi16(0, 0, 9, 9, 18, 18, 27, 27, 36, 36, 45, 45, 54, 54, 63, 63);
    const __m512i words =
        _mm512_permutex2var_epi16(load(from), _mm512_castsi256_si512(places), load(from + 64));
    return _mm512_cvtph_ps(_mm512_castsi512_si256(words));
  }
};

[[gnu::always_inline]] KVPLAN_DOT inline void scales_and_minima(const std::byte* from, Parts& to) {
  const SixBits six(from + 4);
  to.scales = times(everywhere(from), pairwise(six.scales));
  to.offsets = times(everywhere(from + 2), pairwise(six.minima));
}

// Of every 64 numbers in 32 bytes, those of the upper half above those of the lower.
using Nibbles64 =
    Bits<[](int s) { return s / 4 * 8 + s % 2 * 4; }, [](int s) { return s / 2 % 2 * 4; }>;
// Bit s / 2 of 32 bytes for 256 numbers, moved to bit kTo.
template <int kTo>
using OneBit = Bits<[](int s) { return s % 2 * 4; }, [](int s) { return s / 2 - kTo; }>;
// Two bits of every 128 numbers in 32 bytes, moved to bit kTo.
template <int kTo>
using TwoBits =
    Bits<[](int s) { return s / 8 * 8 + s % 2 * 4; }, [](int s) { return s % 8 / 2 * 2 - kTo; }>;

struct Q4K {
  static constexpr std::int64_t kBytes = blocks::Q4K::kBytes;
  using Codes =
      Nibbles<[](int s) { return s / 4 * 8 + s % 2 * 4; }, [](int s) { return s / 2 % 2 == 1; }>;

  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    Codes::codes(load(from + 16), load(from + 80), to);
    scales_and_minima(from, to);
    to.scales = Codes::shares_of(to.scales);
  }
};

struct Q5K {
  static constexpr std::int64_t kBytes = blocks::Q5K::kBytes;
  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    const __m512i fifth = twice(from + 16), low = load(from + 48), high = load(from + 112);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      to.codes[j] = joined(masked(Nibbles64::of(low, high, j), 15), OneBit<4>::of(fifth, j), 0x10);
    scales_and_minima(from, to);
  }
};

struct Q6K {
  static constexpr std::int64_t kBytes = blocks::Q6K::kBytes;
  // Of every 128 numbers in 64 bytes.
  using Nibbles =
      Bits<[](int s) { return s / 8 * 16 + s % 4 * 4; }, [](int s) { return s / 4 % 2 * 4; }>;

  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    const __m512i low = load(from), high = load(from + 64), upper = load(from + 128);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      to.codes[j] = joined(masked(Nibbles::of(low, high, j), 15), TwoBits<4>::of(upper, j), 0x30);
    to.scales = times(everywhere(from + 208), _mm512_cvtepi8_epi32(sixteen(from + 192)));
    to.offsets = _mm512_mul_ps(to.scales, _mm512_set1_ps(32));
  }
};

struct Q2K {
  static constexpr std::int64_t kBytes = blocks::Q2K::kBytes;
  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    const __m512i raw = load(from + 16);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) to.codes[j] = masked(TwoBits<0>::of(raw, j), 3);
    const __m512i both = _mm512_cvtepu8_epi32(sixteen(from));
    to.scales = times(everywhere(from + 80), _mm512_and_si512(both, _mm512_set1_epi32(15)));
    to.offsets = times(everywhere(from + 82), _mm512_srli_epi32(both, 4));
  }
};

struct Q3K {
  static constexpr std::int64_t kBytes = blocks::Q3K::kBytes;
  [[gnu::always_inline]] KVPLAN_DOT static void take_apart(const std::byte* from, Parts& to) {
    const __m512i third = twice(from), raw = load(from + 32);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      to.codes[j] = joined(masked(TwoBits<0>::of(raw, j), 3), OneBit<2>::of(third, j), 4);
    const SixteenScales six(from + 96);
    const __m512i scales = _mm512_cvtepu8_epi32(_mm_set_epi64x(
        static_cast<std::int64_t>(six.second), static_cast<std::int64_t>(six.first)));
    to.scales = times(everywhere(from + 108), _mm512_sub_epi32(scales, _mm512_set1_epi32(32)));
    to.offsets = _mm512_mul_ps(to.scales, _mm512_set1_ps(4));
  }
};

}  // namespace kvplan::blocks::dot
