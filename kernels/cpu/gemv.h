// SPDX-License-Identifier: Apache-2.0
// y[m, n] = x[m, k] · W[n, k]ᵀ for few rows of x: the weights are read once, so memory sets the
// time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/line.h"
#include "model/format.h"

namespace kvplan {

constexpr std::int64_t kGemvBlock = 128;                        // k is a multiple of this
constexpr std::int64_t kGemvRows = 16;                          // at most so many rows of x
constexpr std::int64_t kTileRows = 8;                           // of x in a tile
constexpr std::int64_t kTilePairRows = 64, kTileByteRows = 32;  // of x in a block
constexpr std::int64_t kByteBlock = 256;  // numbers of x that are rounded to 8 bits together

// Numbers of one row: `step` times these; the same with four of each 16 in turn; sums of each 16.
struct ByteBlock {
  const std::int8_t *numbers, *lanes;
  const float* sums;
  float step;
};

// x in every form that a kernel may want, made before the clock starts; engines make one of them in
// the operator before. Rows are padded with zeros to 1, 2, 4 or a multiple of 8.
struct Activations {
  Activations(const std::vector<std::uint16_t>& bf16_bits, std::int64_t rows, std::int64_t k);

  std::int64_t m, padded, k;
  // Numbers from one row to the next: not a multiple of 4 KiB, or all rows fall into one cache set.
  std::int64_t stride;
  std::vector<std::uint16_t> bf16;  // [padded][stride], as given
  std::vector<float> fp32;          // the same
  // Tiles of up to 8 rows, of each row 64 bytes in turn:
  // [tile][k / numbers in 64 bytes][row of the tile][numbers in 64 bytes].
  Lines<std::uint16_t> pairs;  // bf16
  Lines<float> floats;
  // Whole multiples of `step`, to 16 bits of the largest in a row.
  Lines<std::int16_t> words;
  // The same in the order in which int4 weights are taken apart: of 128 numbers those at the
  // places 2j, 64 + 2j, 2j + 1, 65 + 2j, for each j < 32. A row's four lines stand together.
  Lines<std::int16_t> nibble_words;
  // -8 Σ of the words that meet in each of 16 lanes, for every 128: [tile][group][row][16].
  Lines<std::int32_t> nibble_offsets;
  std::vector<float> step;  // [padded]
  // For tiles of AMX, in blocks of rows, of each in panels of up to 16: the bf16 numbers, two and
  // two, [block][k / 32][panel][16][row][2]; and the words as 256 times one byte and another, four
  // and four, [block][k / 64][panel][2 bytes][16][row][4].
  Lines<std::uint16_t> tile_pairs;
  Lines<std::int8_t> tile_bytes;

  // Block b of 256 numbers rounded to 8 bits of the largest of them; where k holds whole blocks.
  // Of a tile of `rows` rows from m0 on, row `row` of the tile.
  ByteBlock byte_block(std::int64_t m0, std::int64_t b, std::int64_t row, std::int64_t rows) const {
    const std::int64_t place = m0 * (k / kByteBlock) + b * rows + row;
    return {bytes.data() + place * kByteBlock, byte_lanes.data() + place * kByteBlock,
            byte_sums.data() + place * (kByteBlock / 16), byte_steps.data()[place]};
  }
  ByteBlock byte_block(std::int64_t row, std::int64_t b) const {
    const std::int64_t rows = std::min(padded, kTileRows);
    return byte_block(row / rows * rows, b, row % rows, rows);
  }

 private:
  void round_to_bytes(std::int64_t row, std::int64_t b);

  Lines<std::int8_t> bytes, byte_lanes;
  Lines<float> byte_sums, byte_steps;
};

// Rows of W that one thread owns, contiguous; their scales (if any) likewise.
struct GemvRows {
  const std::byte* weights = nullptr;
  const std::byte* scales = nullptr;
  std::int64_t rows = 0;
  const Activations* x = nullptr;
  float* y = nullptr;  // [rows][padded]
  bool near = false;   // cores follow streams of memory by themselves: see vectors::kNear
};

using GemvKernel = void (*)(const GemvRows&);

// The kernels of each step; nullptr where a step has none for a format.
GemvKernel gemv_portable(const Format&);
GemvKernel gemv_avx2(const Format&);
GemvKernel gemv_avx512(const Format&);
GemvKernel gemv_dot_pairs(const Format&);
GemvKernel gemv_dot_words(const Format&);
GemvKernel gemv_amx_pairs(const Format&);
GemvKernel gemv_amx_words(const Format&);
struct GemvChoice {
  GemvKernel run = nullptr;                             // nullptr when no kernel reads the format
  std::optional<Arithmetic> arithmetic = std::nullopt;  // empty: of whole numbers, by plain loops
  bool rounds_x = false;  // to 8 bits: its answer is that for Activations::byte_block
};
// Of ggml's blocks.
GemvChoice gemv_blocks(const Format&, Isa);
// The best that runs at `isa` for so many rows of x.
GemvChoice gemv_kernel(const Format&, Isa isa, std::int64_t rows);

}  // namespace kvplan
