// SPDX-License-Identifier: Apache-2.0
// 16-bit operands with their infinities and NaN, and what a warp's lanes compute together.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/cuda/emulation/block.h"
#include "kernels/cuda/port.cuh"
#include "kernels/numbers.h"

namespace kvplan::emulation {

template <class Operand>
struct HalfToFloat;
template <>
struct HalfToFloat<Fp16> {
  float operator()(std::uint16_t bits) const {
    if ((bits & 0x7c00u) != 0x7c00u) return from_fp16(bits);
    if (bits & 0x3ffu) return std::numeric_limits<float>::quiet_NaN();
    return std::copysign(std::numeric_limits<float>::infinity(), bits & 0x8000u ? -1.0f : 1.0f);
  }
};
template <>
struct HalfToFloat<Bf16> {
  float operator()(std::uint16_t bits) const { return from_bf16(bits); }
};

inline std::uint16_t float_to_half(float value, Fp16) {
  if (std::isnan(value)) return 0x7fff;
  if (std::abs(value) >= 65520.0f) return value < 0 ? 0xfc00 : 0x7c00;
  return to_fp16(value);
}
inline std::uint16_t float_to_half(float value, Bf16) {
  return std::isnan(value) ? 0x7fff : to_bf16(value);
}

// Counts bank conflicts: the eight rows of a matrix must lie in different 16-byte columns of the
// 128 bytes that shared memory delivers at once.
inline void note_rows(Block& of, const std::uint64_t (&rows)[32][4]) {
  Counters& counters = of.settings.counters;
  for (int matrix = 0; matrix < 4; ++matrix) {
    unsigned columns = 0;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t address = rows[8 * matrix + i][0];
      if (address % 16 != 0) throw std::runtime_error("misaligned row of a matrix");
      of.shadow().read(reinterpret_cast<const void*>(address), 16, of.now());
      columns |= 1u << (address / 16 % 8);
    }
    ++counters.matrix_loads;
    counters.bank_conflicts += columns != 0xff;
  }
}

// The product of the fragments that lanes brought, laid out as PTX does for mma.m16n8k16.
template <class ToFloat>
void multiply_tables(const std::uint64_t (&table)[32][4], ToFloat to_float,
                     float (&product)[16][8]) {
  float a[16][16], b[16][8];  // [row][k], [k][column]
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < 4; ++e) {
      const int quad = lane / 4, k = lane % 4 * 2 + e % 2, high = e / 2;
      const auto half = [&](std::uint64_t word, int i) {
        return to_float(static_cast<std::uint16_t>(word >> (32 * i + 16 * (e % 2))));
      };
      a[quad][k + 8 * high] = half(table[lane][high], 0);
      a[quad + 8][k + 8 * high] = half(table[lane][high], 1);
      b[k + 8 * high][quad] = half(table[lane][2], high);
    }
  for (int row = 0; row < 16; ++row) {
    float sum[8] = {};
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < 8; ++column) sum[column] += a[row][k] * b[k][column];
    for (int column = 0; column < 8; ++column) product[row][column] = sum[column];
  }
}

}  // namespace kvplan::emulation
