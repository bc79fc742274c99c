// SPDX-License-Identifier: Apache-2.0
// int8 and int4 weights meet a 16-bit x in tiles of bytes, exactly: 256 times one byte of x and
// another.
#include <array>

#include "kernels/cpu/gemv_amx.h"

namespace kvplan {
namespace {

using amx::Part;
using amx::Source;

constexpr std::int64_t kTile = tiles::kBytes;
constexpr std::int64_t kPieceColumns = 4096;  // 32 rows of x take 256 KiB

// Of each format: 64 bytes of a row hold kTiles · 64 columns; kGroup columns share a scale, and
// their sums fit 32 bits. int8 numbers are tiles where they lie.
struct Int8 {
  static constexpr std::int64_t kTiles = 1, kGroup = kPieceColumns;
  // Of the groups of a part.
  static void read_scales(const GemvRows& task, const Part&, std::int64_t row, float* to) {
    *to = reinterpret_cast<const float*>(task.scales)[row];
  }
};
struct Int4 {
  static constexpr std::int64_t kTiles = 2, kGroup = kGemvBlock;
  KVPLAN_AMX static void unpack(const std::byte* from, std::byte* to) {
    const __m512i mask = _mm512_set1_epi8(15), zero = _mm512_set1_epi8(8);
    const __m512i all = _mm512_loadu_si512(from);
    const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(all, 4), mask);
    _mm512_store_si512(to, _mm512_sub_epi8(_mm512_and_si512(all, mask), zero));
    _mm512_store_si512(to + kTile, _mm512_sub_epi8(upper, zero));
  }
  KVPLAN_AMX static void read_scales(const GemvRows& task, const Part& p, std::int64_t row,
                                     float* to) {
    const auto* bits =
        reinterpret_cast<const std::uint16_t*>(task.scales) + (row * task.x->k + p.first) / kGroup;
    const std::int64_t groups = (p.last - p.first) / kGroup;
    for (std::int64_t g = 0; g < groups; g += 16) {
      const std::int64_t left = std::min<std::int64_t>(16, groups - g);
      const auto mask = static_cast<__mmask16>((1u << left) - 1);
      _mm512_store_ps(to + g, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, bits + g)));
    }
  }
};

// A block of x from a column on: [columns / 64][panel][2 bytes][16][row][4].
struct Input {
  const std::int8_t* from;
  std::int64_t step;        // bytes from 64 columns to the next
  std::int64_t last_bytes;  // of a row of the last panel's tiles
};

// 64 columns. Tiles 0 to 3 are the sums of two panels of x, with upper and lower bytes; 4 and 5
// hold x, 6 W.
template <int kPanels>
[[gnu::always_inline]] KVPLAN_AMX inline void add(const std::byte* w, std::int64_t w_bytes,
                                                  const std::int8_t* x, const Input& input) {
  tiles::load<6>(w, w_bytes);
  if constexpr (kPanels > 1) {
    tiles::load<4>(x);
    tiles::Int8::add<0, 6, 4>();
    tiles::load<4>(x + kTile);
    tiles::Int8::add<1, 6, 4>();
    x += 2 * kTile;
  }
  constexpr int kUpper = 2 * (kPanels - 1);
  tiles::load<5>(x, input.last_bytes);
  tiles::Int8::add<kUpper, 6, 5>();
  tiles::load<5>(x + tiles::kRows * input.last_bytes, input.last_bytes);
  tiles::Int8::add<kUpper + 1, 6, 5>();
}

// Of a panel: what tiles held of a group of columns, and the floats that it adds to. Rows of W
// follow each other, so that few rows of x take few vectors.
struct PanelSums {
  static constexpr std::int64_t kMost = tiles::kRows * tiles::kRows;
  alignas(64) std::array<std::int32_t, kMost> upper{}, lower{};
  alignas(64) std::array<float, kMost> floats{};
  alignas(64) std::array<std::int32_t, kMost> row_of{};  // of W, of a lane
  std::int64_t width = 0;

  void start(std::int64_t rows_of_x) {
    std::fill_n(floats.begin(), tiles::kRows * rows_of_x, 0.0f);
    if (rows_of_x == width) return;
    width = rows_of_x;
    for (std::int64_t i = 0; i < kMost; ++i) row_of[i] = static_cast<std::int32_t>(i / width);
  }
  template <int kUpper>
  [[gnu::always_inline]] KVPLAN_AMX void take() {
    tiles::store<kUpper>(upper.data(), 4 * width);
    tiles::store<kUpper + 1>(lower.data(), 4 * width);
  }
  [[gnu::always_inline]] KVPLAN_AMX void add(__m512 scales_of_rows) {
    for (std::int64_t i = 0; i < tiles::kRows * width; i += 16) {
      const __m512 high = _mm512_cvtepi32_ps(_mm512_load_si512(upper.data() + i));
      const __m512 low = _mm512_cvtepi32_ps(_mm512_load_si512(lower.data() + i));
      const __m512 sum = _mm512_fmadd_ps(high, _mm512_set1_ps(256), low);
      const __m512i rows = _mm512_load_si512(row_of.data() + i);
      const __m512 scales = _mm512_permutexvar_ps(rows, scales_of_rows);
      float* to = floats.data() + i;
      _mm512_store_ps(to, _mm512_fmadd_ps(sum, scales, _mm512_load_ps(to)));
    }
  }
};

// The columns of a part, a group at a time.
template <class Weights, int kPanels>
struct Columns {
  const Source& w;
  const Input& input;
  std::int64_t rows, count;
  alignas(64) std::byte unpacked[2][2 * kTile];

  [[gnu::always_inline]] KVPLAN_AMX void unpack(std::int64_t column) {
    const std::byte* from = w.from + column / 2;
    std::byte* to = unpacked[column / kGemvBlock % 2];
    for (std::int64_t r = 0; r < rows; ++r) Weights::unpack(from + r * w.row_bytes, to + 64 * r);
  }
  [[gnu::always_inline]] KVPLAN_AMX void add_group(std::int64_t first) {
    const std::int8_t* x = input.from + first / 64 * input.step;
    if constexpr (Weights::kTiles == 1) {
      const std::int64_t last = std::min(count, first + Weights::kGroup);
      for (std::int64_t at = first; at < last; at += 64, x += input.step) {
        w.fetch(at, 64);
        add<kPanels>(w.from + at, w.row_bytes, x, input);
      }
    } else {
      w.fetch(first / 2, 64);
      if (first + kGemvBlock < count) unpack(first + kGemvBlock);
      const std::byte* from = unpacked[first / kGemvBlock % 2];
      add<kPanels>(from, 64, x, input);
      add<kPanels>(from + kTile, 64, x + input.step, input);
    }
  }
};

// y of a panel, what earlier columns left in it and what these add.
KVPLAN_AMX void end(const PanelSums& sums, const GemvRows& task, const Part& p, int panel) {
  const Activations& x = *task.x;
  const std::int64_t m0 = p.x.m0 + panel * amx::kPanel;
  const auto mask = static_cast<__mmask16>((1u << sums.width) - 1);
  const __m512 step = _mm512_maskz_loadu_ps(mask, x.step.data() + m0);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    float* y = task.y + (p.row + r) * x.padded + m0;
    const __m512 before = p.first == 0 ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, y);
    const __m512 sum = _mm512_maskz_loadu_ps(mask, sums.floats.data() + r * sums.width);
    _mm512_mask_storeu_ps(y, mask, _mm512_fmadd_ps(sum, step, before));
  }
}

// The sums of a group of columns become floats while the next meets x.
template <class Weights, int kPanels>
KVPLAN_AMX void meet(const GemvRows& task, const Part& p, const Source& w, PanelSums (&sums)[2]) {
  constexpr std::int64_t kGroups = kPieceColumns / Weights::kGroup;
  const Activations& x = *task.x;
  const Input input{x.tile_bytes.data() + 2 * (p.x.m0 * x.k + p.first * p.x.rows), 128 * p.x.rows,
                    4 * p.x.width(kPanels - 1)};
  alignas(64) std::array<std::array<float, kGroups>, tiles::kRows> scales{};
  for (std::int64_t r = 0; r < p.rows; ++r)
    Weights::read_scales(task, p, p.row + r, scales[r].data());
  const __m512i rows = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i places = _mm512_mullo_epi32(rows, _mm512_set1_epi32(kGroups));
  for (int panel = 0; panel < kPanels; ++panel) sums[panel].start(p.x.width(panel));
  Columns<Weights, kPanels> part{w, input, p.rows, p.last - p.first, {}};
  if constexpr (Weights::kTiles > 1) part.unpack(0);
  const std::int64_t groups = ceil_div(part.count, Weights::kGroup);
  for (std::int64_t g = 0; g <= groups; ++g) {
    if (g < groups) {
      tiles::clear_first<2 * kPanels>();
      part.add_group(g * Weights::kGroup);
    }
    if (g > 0) {
      const __m512 of_rows = _mm512_i32gather_ps(places, scales[0].data() + g - 1, 4);
      for (int panel = 0; panel < kPanels; ++panel) sums[panel].add(of_rows);
    }
    sums[0].template take<0>();
    if constexpr (kPanels > 1) sums[1].template take<2>();
  }
  for (int panel = 0; panel < kPanels; ++panel) end(sums[panel], task, p, panel);
}

template <class Weights>
KVPLAN_AMX void in_words(const GemvRows& task) {
  const Activations& x = *task.x;
  const std::int64_t row_bytes = x.k / Weights::kTiles;
  const auto place_of = [&](const Part& p) {
    return task.weights + p.row * row_bytes + p.first / Weights::kTiles;
  };
  tiles::Shapes shapes;
  PanelSums sums[2];
  amx::Parts parts(task, kPieceColumns, kTileByteRows);
  while (!parts.over()) {
    const Part p = parts.now();
    parts.advance();
    const Source w{place_of(p), place_of(parts.now()), row_bytes,
                   (p.last - p.first) / Weights::kTiles};
    const auto panels = static_cast<int>(p.x.panels()), rows = static_cast<int>(p.rows);
    for (int sum = 0; sum < 2 * panels; ++sum) shapes.set(sum, rows, 4 * p.x.width(sum / 2));
    shapes.set(5, tiles::kRows, 4 * p.x.width(panels - 1));
    shapes.set(6, rows, tiles::kRowBytes);
    shapes.apply();
    panels > 1 ? meet<Weights, 2>(task, p, w, sums) : meet<Weights, 1>(task, p, w, sums);
  }
}

}  // namespace

GemvKernel gemv_amx_words(const Format& format) {
  if (format.name == "int8-channel") return in_words<Int8>;
  if (format.name == "int4-g128") return in_words<Int4>;
  return nullptr;
}

}  // namespace kvplan
