// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cpu/gemv.h"
#include "kernels/numbers.h"

namespace kvplan {
namespace {

std::int64_t padded_rows(std::int64_t m) { return m > 4 ? round_up(m, 8) : m > 2 ? 4 : m; }

// Where a number of rows of so many columns lies, in tiles of rows that take `line` numbers of each
// in turn.
std::int64_t place(const Activations& x, std::int64_t row, std::int64_t column, std::int64_t line,
                   std::int64_t columns) {
  const std::int64_t rows = std::min(x.padded, kTileRows);
  return (row / rows * columns + column / line * line) * rows + row % rows * line + column % line;
}

// int4 weights stand two a byte, j and 64 + j of 128, and are taken apart as words of two bytes.
std::int64_t nibble_column(std::int64_t column) {
  const std::int64_t in_half = column % 64, upper = column % 128 / 64;
  return column / 128 * 128 + (in_half % 2 * 2 + upper) * 32 + in_half / 2;
}

// Where byte `column` of a row lies in blocks of up to `most` rows, of which 64 bytes of 16 rows,
// or of those that are left, make `parts` tiles, four bytes of each row in turn. The first of them.
std::int64_t tile_place(const Activations& x, std::int64_t row, std::int64_t column,
                        std::int64_t most, std::int64_t parts, std::int64_t row_bytes) {
  const std::int64_t m0 = row / most * most, rows = std::min(most, x.padded - m0);
  const std::int64_t panel = (row - m0) / 16, width = std::min<std::int64_t>(16, rows - 16 * panel);
  return parts * (m0 * row_bytes + column / 64 * 64 * rows + panel * 1024) +
         column % 64 / 4 * 4 * width + row % 16 * 4 + column % 4;
}

}  // namespace

Activations::Activations(const std::vector<std::uint16_t>& bits, std::int64_t rows,
                         std::int64_t columns)
    : m(rows),
      padded(padded_rows(rows)),
      k(columns),
      stride(k + 64),
      bf16(static_cast<std::size_t>(padded * stride)),
      fp32(bf16.size()),
      pairs(padded * k),
      floats(padded * k),
      words(padded * k),
      nibble_words(padded * k),
      nibble_offsets(padded * k / 8),
      step(static_cast<std::size_t>(padded), 1.0f),
      tile_pairs(padded * k),
      tile_bytes(2 * padded * k),
      bytes(padded * k),
      byte_lanes(padded * k),
      byte_sums(padded * k / 16),
      byte_steps(padded * (k / kByteBlock)) {
  for (std::int64_t row = 0; row < m; ++row) {
    float largest = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      const std::uint16_t number = bits[row * k + i];
      tile_pairs.data()[tile_place(*this, row, 2 * i, kTilePairRows, 1, 2 * k) / 2] = number;
      bf16[row * stride + i] = pairs.data()[place(*this, row, i, 32, k)] = number;
      fp32[row * stride + i] = floats.data()[place(*this, row, i, 16, k)] = from_bf16(number);
      largest = std::max(largest, std::abs(from_bf16(number)));
    }
    // Sums of 8,192 products with int8 weights fit 32 bits in each of 16 lanes.
    if (largest > 0) step[row] = largest / 32512.0f;
    for (std::int64_t i = 0; i < k; ++i) {
      const auto word = static_cast<std::int16_t>(std::lround(fp32[row * stride + i] / step[row]));
      words.data()[place(*this, row, i, 32, k)] = word;
      const int upper = (word + 128) >> 8;
      const std::int64_t upper_place = tile_place(*this, row, i, kTileByteRows, 2, k);
      const std::int64_t in_panel = std::min<std::int64_t>(16, padded - row / 16 * 16);
      tile_bytes.data()[upper_place] = static_cast<std::int8_t>(upper);
      tile_bytes.data()[upper_place + 64 * in_panel] = static_cast<std::int8_t>(word - 256 * upper);
      const std::int64_t nibble = nibble_column(i);
      nibble_words.data()[place(*this, row, nibble, 128, k)] = word;
      const std::int64_t lane = nibble / 128 * 16 + nibble % 32 / 2;
      nibble_offsets.data()[place(*this, row, lane, 16, k / 8)] -= 8 * word;
    }
    if (k % kByteBlock == 0)
      for (std::int64_t b = 0; b < k / kByteBlock; ++b) round_to_bytes(row, b);
  }
}

void Activations::round_to_bytes(std::int64_t row, std::int64_t b) {
  const float* from = fp32.data() + row * stride + b * kByteBlock;
  const std::int64_t tile = std::min(padded, kTileRows);
  const std::int64_t to = row / tile * tile * (k / kByteBlock) + b * tile + row % tile;
  float largest = 0;
  for (std::int64_t i = 0; i < kByteBlock; ++i) largest = std::max(largest, std::abs(from[i]));
  const float unit = byte_steps.data()[to] = largest > 0 ? largest / 127 : 1;
  for (std::int64_t i = 0; i < kByteBlock; ++i) {
    const auto number = static_cast<std::int8_t>(std::lround(from[i] / unit));
    bytes.data()[to * kByteBlock + i] = number;
    byte_lanes.data()[to * kByteBlock + i % 16 / 4 * 64 + i / 16 * 4 + i % 4] = number;
    byte_sums.data()[(to * kByteBlock + i) / 16] += static_cast<float>(number);
  }
}

}  // namespace kvplan
