// SPDX-License-Identifier: Apache-2.0
// 256 numbers of a row in a format of ggml's blocks, taken apart: codes in their order, and a scale
// and an offset for every 16. Layouts: the block structs and dequantize_row_* of ggml-common.h and
// ggml-quants.c. Vectors of 16 bytes, which every instruction set has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/numbers.h"

namespace kvplan::blocks {

constexpr std::int64_t kNumbers = 256;  // taken apart at a time
constexpr std::int64_t kGroup = 16;     // that share a scale
constexpr std::int64_t kGroups = kNumbers / kGroup;

// A number is scale · code - offset.
struct Parts {
  alignas(64) std::uint8_t codes[kNumbers];
  alignas(64) float scales[kGroups];
  alignas(64) float offsets[kGroups];
};

using Sixteen [[gnu::vector_size(16)]] = std::uint8_t;

template <class T>
[[gnu::always_inline]] inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
[[gnu::always_inline]] inline float half(const std::byte* from) {
  return from_fp16(load<std::uint16_t>(from));
}
// Bits [at, at + count) of 16 bytes, moved to bit `to`. Shifts are those of words: instruction sets
// have none of bytes.
[[gnu::always_inline]] inline Sixteen bits(const std::byte* from, int at, int count, int to) {
  using Words [[gnu::vector_size(16)]] = std::uint16_t;
  const auto raw = load<Words>(from);
  const auto moved = at > to ? raw >> (at - to) : raw << (to - at);
  const auto kept = static_cast<std::uint8_t>(((1 << count) - 1) << to);
  return reinterpret_cast<Sixteen>(moved) & kept;
}
// The lower or the upper four bits of 16 bytes.
[[gnu::always_inline]] inline Sixteen nibbles(const std::byte* from, bool upper) {
  return bits(from, upper ? 4 : 0, 4, 0);
}

// `Format` tells the codes of group g, and writes all scales and offsets.
template <class Format>
[[gnu::always_inline]] inline void take_apart(const std::byte* from, Parts& to) {
#pragma GCC unroll 16
  for (std::int64_t g = 0; g < kGroups; ++g) {
    const Sixteen codes = Format::codes(from, g);
    std::memcpy(to.codes + kGroup * g, &codes, sizeof codes);
  }
  Format::scales(from, to);
}

[[gnu::always_inline]] inline void set(Parts& to, std::int64_t g, float scale, float offset) {
  to.scales[g] = scale;
  to.offsets[g] = offset;
}

// Eight blocks of 32 numbers, each with one fp16 scale in front; kZero is the code of 0.
template <std::int64_t kBlock, int kZero>
[[gnu::always_inline]] inline void scales_in_front(const std::byte* from, Parts& to) {
#pragma GCC unroll 16
  for (std::int64_t g = 0; g < kGroups; ++g) {
    const float scale = half(from + g / 2 * kBlock);
    set(to, g, scale, scale * kZero);
  }
}

struct Q8_0 {
  static constexpr std::int64_t kBlock = 34, kBytes = 8 * kBlock;
  static constexpr int kCodeBits = 8, kZero = 128;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return load<Sixteen>(from + g / 2 * kBlock + 2 + g % 2 * 16) ^ 0x80;
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    scales_in_front<kBlock, kZero>(from, to);
  }
};

struct Q4_0 {
  static constexpr std::int64_t kBlock = 18, kBytes = 8 * kBlock;
  static constexpr int kCodeBits = 4, kZero = 8;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return nibbles(from + g / 2 * kBlock + 2, g % 2);
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    scales_in_front<kBlock, kZero>(from, to);
  }
};

// Six bits each, eight scales and eight minima in twelve bytes: the upper two bits of the last four
// of each stand above the first four.
struct SixBits {
  std::uint64_t scales, minima;  // a byte each

  [[gnu::always_inline]] explicit SixBits(const std::byte* from) {
    const std::uint64_t a = load<std::uint32_t>(from), b = load<std::uint32_t>(from + 4),
                        c = load<std::uint32_t>(from + 8);
    scales = (a & 0x3f3f3f3f) | ((c & 0x0f0f0f0f) | (a >> 2 & 0x30303030)) << 32;
    minima = (b & 0x3f3f3f3f) | ((c >> 4 & 0x0f0f0f0f) | (b >> 2 & 0x30303030)) << 32;
  }
};
// Byte i of a word.
[[gnu::always_inline]] inline int byte_of(std::uint64_t word, std::int64_t i) {
  return static_cast<int>(word >> 8 * i & 0xff);
}

// fp16 scale of the scales and of the minima, six bits of each for every 32 numbers.
[[gnu::always_inline]] inline void scales_and_minima(const std::byte* from, Parts& to) {
  const float scale = half(from), least = half(from + 2);
  const SixBits six(from + 4);
#pragma GCC unroll 16
  for (std::int64_t g = 0; g < kGroups; ++g)
    set(to, g, scale * static_cast<float>(byte_of(six.scales, g / 2)),
        least * static_cast<float>(byte_of(six.minima, g / 2)));
}

struct Q4K {
  static constexpr std::int64_t kBytes = 144;
  static constexpr int kCodeBits = 4;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return nibbles(from + 16 + g / 4 * 32 + g % 2 * 16, g / 2 % 2);
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    scales_and_minima(from, to);
  }
};

// Bit g / 2 of 32 bytes for 256 numbers, moved to bit `to`.
[[gnu::always_inline]] inline Sixteen one_bit(const std::byte* from, std::int64_t g, int to) {
  return bits(from + g % 2 * 16, static_cast<int>(g / 2), 1, to);
}
// Two bits of every 128 numbers in 32 bytes, likewise.
[[gnu::always_inline]] inline Sixteen two_bits(const std::byte* from, std::int64_t g, int to) {
  return bits(from + g / 8 * 32 + g % 2 * 16, static_cast<int>(g % 8 / 2 * 2), 2, to);
}

// As q4_k, with fifth bits between.
struct Q5K {
  static constexpr std::int64_t kBytes = 176;
  static constexpr int kCodeBits = 5;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return nibbles(from + 48 + g / 4 * 32 + g % 2 * 16, g / 2 % 2) | one_bit(from + 16, g, 4);
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    scales_and_minima(from, to);
  }
};

// Four bits, two bits, sixteen scales of eight bits, their fp16 scale. Code 32 is 0.
struct Q6K {
  static constexpr std::int64_t kBytes = 210;
  static constexpr int kCodeBits = 6;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return nibbles(from + g / 8 * 64 + g % 4 * 16, g / 4 % 2) | two_bits(from + 128, g, 4);
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    const float scale = half(from + 208);
#pragma GCC unroll 16
    for (std::int64_t g = 0; g < kGroups; ++g) {
      const float one = scale * static_cast<float>(load<std::int8_t>(from + 192 + g));
      set(to, g, one, 32 * one);
    }
  }
};

// Sixteen bytes of a scale below a minimum, two bits, and the fp16 scales of both.
struct Q2K {
  static constexpr std::int64_t kBytes = 84;
  static constexpr int kCodeBits = 2;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return two_bits(from + 16, g, 0);
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    const float scale = half(from + 80), least = half(from + 82);
#pragma GCC unroll 16
    for (std::int64_t g = 0; g < kGroups; ++g) {
      const int both = load<std::uint8_t>(from + g);
      set(to, g, scale * static_cast<float>(both & 15), least * static_cast<float>(both >> 4));
    }
  }
};

// Sixteen scales of six bits each in twelve bytes: the lower four of i and 8 + i in byte i of
// eight, the upper two of i, 4 + i, … in byte i of the last four.
struct SixteenScales {
  std::uint64_t first, second;  // a byte each

  [[gnu::always_inline]] explicit SixteenScales(const std::byte* from) {
    const std::uint64_t all = load<std::uint64_t>(from), c = load<std::uint32_t>(from + 8);
    constexpr std::uint64_t kFour = 0x0f0f0f0f0f0f0f0f, kTwo = 0x30303030;
    first = (all & kFour) | (c << 4 & kTwo) | (c << 2 & kTwo) << 32;
    second = (all >> 4 & kFour) | (c & kTwo) | (c >> 2 & kTwo) << 32;
  }
};

// Third bits, two bits, sixteen scales less 32, their fp16 scale. Code 4 is 0.
struct Q3K {
  static constexpr std::int64_t kBytes = 110;
  static constexpr int kCodeBits = 3;
  [[gnu::always_inline]] static Sixteen codes(const std::byte* from, std::int64_t g) {
    return two_bits(from + 32, g, 0) | one_bit(from, g, 2);
  }
  [[gnu::always_inline]] static void scales(const std::byte* from, Parts& to) {
    const float scale = half(from + 108);
    const SixteenScales six(from + 96);
#pragma GCC unroll 16
    for (std::int64_t g = 0; g < kGroups; ++g) {
      const float one =
          scale * static_cast<float>(byte_of(g < 8 ? six.first : six.second, g % 8) - 32);
      set(to, g, one, 4 * one);
    }
  }
};

}  // namespace kvplan::blocks
