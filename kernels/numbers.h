// SPDX-License-Identifier: Apache-2.0
// Stored numbers → float, exactly and without branches, so that loops over them vectorise.
// Layouts: IEEE 754 binary16; bfloat16 = the upper half of binary32; OCP FP8 E4M3 (bias 7).
#pragma once
#include <bit>
#include <cstdint>

namespace kvplan {

[[gnu::always_inline]] constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Moves the fields to their places in binary32 and corrects the bias by a product, which also
// normalises subnormals. Infinities and NaN do not occur in what kernels read.
[[gnu::always_inline]] constexpr float from_fp16(std::uint16_t bits) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffu) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  return std::bit_cast<float>(
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f) | sign);
}

// As binary16 with the exponent field one bit shorter: bias 7 instead of 15, hence 2^8.
[[gnu::always_inline]] constexpr float from_fp8(std::uint8_t bits) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fu) << 20;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80u) << 24;
  return std::bit_cast<float>(
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p120f) | sign);
}

// Round to nearest, ties to even. Finite values only.
constexpr std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Round to nearest; |value| < 65504. Adding 2^k forces the rounding to the bit that binary16 keeps.
constexpr std::uint16_t to_fp16(float value) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000u;
  const float scaled =
      std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7fffffffu) * 0x1p-112f;
  const auto bits = std::bit_cast<std::uint32_t>(scaled);
  return static_cast<std::uint16_t>(sign | ((bits + 0xfffu + ((bits >> 13) & 1u)) >> 13));
}

}  // namespace kvplan
