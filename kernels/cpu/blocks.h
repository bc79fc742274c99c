// SPDX-License-Identifier: Apache-2.0
// 256 numbers of a row in a format of ggml's blocks, taken apart: codes in their order, and a scale
// and an offset for every 16. Layouts: the block structs and dequantize_row_* of ggml-common.h and
// ggml-quants.c. Plain loops: compilers make vectors of them at every instruction set.
#pragma once
#include <array>
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

template <class T>
[[gnu::always_inline]] inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
[[gnu::always_inline]] inline float half(const std::byte* from) {
  return from_fp16(load<std::uint16_t>(from));
}
template <std::size_t kBytes>
[[gnu::always_inline]] inline std::array<std::uint8_t, kBytes> bytes(const std::byte* from) {
  return load<std::array<std::uint8_t, kBytes>>(from);
}
[[gnu::always_inline]] inline std::uint8_t byte(int value) {
  return static_cast<std::uint8_t>(value);
}

// Scales and offsets of eight times 32 numbers.
[[gnu::always_inline]] inline void spread(const float (&scales)[8], const float (&offsets)[8],
                                          Parts& to) {
  for (int i = 0; i < 8; ++i) to.scales[2 * i] = to.scales[2 * i + 1] = scales[i];
  for (int i = 0; i < 8; ++i) to.offsets[2 * i] = to.offsets[2 * i + 1] = offsets[i];
}

// Eight blocks of 32 numbers, each with one fp16 scale in front; Block::codes writes its codes, and
// kZero is the code of 0.
template <class Block>
struct Simple {
  static constexpr std::int64_t kBytes = 8 * Block::kBytes;
  static constexpr int kCodeBits = Block::kCodeBits;

  [[gnu::always_inline]] static void take_apart(const std::byte* from, Parts& to) {
    float scales[8], offsets[8];
    for (int b = 0; b < 8; ++b) {
      const std::byte* block = from + b * Block::kBytes;
      scales[b] = half(block);
      Block::codes(block + 2, to.codes + 32 * b);
    }
    for (int b = 0; b < 8; ++b) offsets[b] = scales[b] * Block::kZero;
    spread(scales, offsets, to);
  }
};

struct Q8_0Block {
  static constexpr std::int64_t kBytes = 34;
  static constexpr int kCodeBits = 8;
  static constexpr float kZero = 128;
  [[gnu::always_inline]] static void codes(const std::byte* from, std::uint8_t* to) {
    const auto raw = bytes<32>(from);
    for (std::size_t i = 0; i < 32; ++i) to[i] = raw[i] ^ 0x80u;
  }
};
struct Q4_0Block {
  static constexpr std::int64_t kBytes = 18;
  static constexpr int kCodeBits = 4;
  static constexpr float kZero = 8;
  [[gnu::always_inline]] static void codes(const std::byte* from, std::uint8_t* to) {
    const auto raw = bytes<16>(from);
    for (std::size_t i = 0; i < 16; ++i) to[i] = raw[i] & 15u;
    for (std::size_t i = 0; i < 16; ++i) to[16 + i] = raw[i] >> 4;
  }
};
using Q8_0 = Simple<Q8_0Block>;
using Q4_0 = Simple<Q4_0Block>;

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
[[gnu::always_inline]] inline int byte_of(std::uint64_t word, int i) {
  return static_cast<int>(word >> 8 * i & 0xff);
}

// fp16 scale of the scales and of the minima, six bits of each for every 32 numbers.
[[gnu::always_inline]] inline void scales_and_minima(const std::byte* from, Parts& to) {
  const float scale = half(from), least = half(from + 2);
  const SixBits six(from + 4);
  float scales[8], offsets[8];
  for (int i = 0; i < 8; ++i) scales[i] = scale * static_cast<float>(byte_of(six.scales, i));
  for (int i = 0; i < 8; ++i) offsets[i] = least * static_cast<float>(byte_of(six.minima, i));
  spread(scales, offsets, to);
}

struct Q4K {
  static constexpr std::int64_t kBytes = 144;
  static constexpr int kCodeBits = 4;
  [[gnu::always_inline]] static void take_apart(const std::byte* from, Parts& to) {
    scales_and_minima(from, to);
    for (int c = 0; c < 4; ++c) {
      const auto raw = bytes<32>(from + 16 + 32 * c);
      for (std::size_t i = 0; i < 32; ++i) to.codes[64 * c + i] = raw[i] & 15u;
      for (std::size_t i = 0; i < 32; ++i) to.codes[64 * c + 32 + i] = raw[i] >> 4;
    }
  }
};

// As q4_k, with a fifth bit of number i of every 32 in byte i of 32.
struct Q5K {
  static constexpr std::int64_t kBytes = 176;
  static constexpr int kCodeBits = 5;
  [[gnu::always_inline]] static void take_apart(const std::byte* from, Parts& to) {
    scales_and_minima(from, to);
    const auto fifth = bytes<32>(from + 16);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const auto raw = bytes<32>(from + 48 + 32 * c);
      std::uint8_t* codes = to.codes + 64 * c;
      for (std::size_t i = 0; i < 32; ++i)
        codes[i] = byte((raw[i] & 15) | (fifth[i] >> 2 * c & 1) << 4);
      for (std::size_t i = 0; i < 32; ++i)
        codes[32 + i] = byte(raw[i] >> 4 | (fifth[i] >> (2 * c + 1) & 1) << 4);
    }
  }
};

// Of each half of 128: four bits of numbers i and 64 + i in byte i of 64, two bits of i, 32 + i, …
// in byte i of 32; sixteen scales of eight bits, then their fp16 scale. Code 32 is 0.
struct Q6K {
  static constexpr std::int64_t kBytes = 210;
  static constexpr int kCodeBits = 6;
  [[gnu::always_inline]] static void take_apart(const std::byte* from, Parts& to) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const auto first = bytes<32>(from + 64 * h), second = bytes<32>(from + 64 * h + 32);
      const auto upper = bytes<32>(from + 128 + 32 * h);
      std::uint8_t* codes = to.codes + 128 * h;
      for (std::size_t i = 0; i < 32; ++i)
        codes[i] = byte((first[i] & 15) | (upper[i] << 4 & 0x30));
      for (std::size_t i = 0; i < 32; ++i)
        codes[32 + i] = byte((second[i] & 15) | (upper[i] << 2 & 0x30));
      for (std::size_t i = 0; i < 32; ++i) codes[64 + i] = byte(first[i] >> 4 | (upper[i] & 0x30));
      for (std::size_t i = 0; i < 32; ++i)
        codes[96 + i] = byte(second[i] >> 4 | (upper[i] >> 2 & 0x30));
    }
    const auto scales = load<std::array<std::int8_t, 16>>(from + 192);
    const float scale = half(from + 208);
    for (std::size_t i = 0; i < 16; ++i) to.scales[i] = scale * scales[i];
    for (std::size_t i = 0; i < 16; ++i) to.offsets[i] = to.scales[i] * 32;
  }
};

// Two bits of numbers i, 32 + i, 64 + i and 96 + i of a half in byte i of 32.
template <class Add>
[[gnu::always_inline]] inline void two_bits(const std::byte* from, std::uint8_t* codes, Add third) {
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    const auto raw = bytes<32>(from + 32 * h);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part)
      for (std::size_t i = 0; i < 32; ++i)
        codes[128 * h + 32 * part + i] = byte((raw[i] >> 2 * part & 3) | third(4 * h + part, i));
  }
}

// Sixteen bytes of a scale in the lower and a minimum in the upper half, then the codes, and the
// fp16 scales of both.
struct Q2K {
  static constexpr std::int64_t kBytes = 84;
  static constexpr int kCodeBits = 2;
  [[gnu::always_inline]] static void take_apart(const std::byte* from, Parts& to) {
    two_bits(from + 16, to.codes, [](int, std::size_t) { return 0; });
    const auto both = bytes<16>(from);
    const float scale = half(from + 80), least = half(from + 82);
    for (std::size_t i = 0; i < 16; ++i) to.scales[i] = scale * (both[i] & 15);
    for (std::size_t i = 0; i < 16; ++i) to.offsets[i] = least * (both[i] >> 4);
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

// A third bit of number i of every 32 in byte i of the first 32; scales are less 32. Code 4 is 0.
struct Q3K {
  static constexpr std::int64_t kBytes = 110;
  static constexpr int kCodeBits = 3;
  [[gnu::always_inline]] static void take_apart(const std::byte* from, Parts& to) {
    const auto third = bytes<32>(from);
    two_bits(from + 32, to.codes,
             [&](int part, std::size_t i) { return (third[i] >> part & 1) << 2; });
    const SixteenScales six(from + 96);
    const float scale = half(from + 108);
    for (int i = 0; i < 16; ++i)
      to.scales[i] =
          scale * static_cast<float>(byte_of(i < 8 ? six.first : six.second, i % 8) - 32);
    for (std::size_t i = 0; i < 16; ++i) to.offsets[i] = to.scales[i] * 4;
  }
};

}  // namespace kvplan::blocks
