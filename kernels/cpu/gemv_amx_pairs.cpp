// SPDX-License-Identifier: Apache-2.0
// Weights that are one or two bf16 numbers meet x in tiles of bf16.
#include "kernels/cpu/gemv_amx.h"
#include "kernels/cpu/pairs.h"

namespace kvplan {
namespace {

using amx::Part;
using amx::Source;

constexpr std::int64_t kTile = tiles::kBytes;
constexpr std::int64_t kPieceColumns = 2048;  // 64 rows of x take 256 KiB
constexpr std::int64_t kColumns = 64;         // at a time: two tiles or four

// Of each format: 64 numbers of a row become kParts numbers of bf16 each, in rows of tiles that
// stand kTile bytes apart. bf16 numbers are tiles where they lie.
struct Bf16 {
  static constexpr std::int64_t kBytes = 2, kParts = 1;
  static constexpr bool kAsTheyAre = true;
};

// What the upper eight bits of a number leave is a bf16 number too.
struct Fp16 {
  static constexpr std::int64_t kBytes = 2, kParts = 2;
  static constexpr bool kAsTheyAre = false;
  __m512i upper_words, upper_halves;

  KVPLAN_AMX Fp16() {
    alignas(64) std::uint16_t places[32];
    for (int i = 0; i < 32; ++i) places[i] = static_cast<std::uint16_t>(2 * i + 1);
    upper_words = _mm512_load_si512(places);
    upper_halves = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  }
  KVPLAN_AMX void unpack(const std::byte* from, std::byte* to) const {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half, from += 64, to += 2 * kTile) {
      const __m512 a = vectors::Fp16::load(from, 0), b = vectors::Fp16::load(from, 16);
      _mm512_store_si512(to, upper(a, b));
      _mm512_store_si512(to + kTile, upper(rest(a), rest(b)));
    }
  }

 private:
  [[gnu::always_inline]] KVPLAN_AMX __m512i upper(__m512 a, __m512 b) const {
    return _mm512_permutex2var_epi16(_mm512_castps_si512(a), upper_words, _mm512_castps_si512(b));
  }
  [[gnu::always_inline]] KVPLAN_AMX __m512 rest(__m512 a) const {
    const __m512i upper = _mm512_and_si512(_mm512_castps_si512(a), upper_halves);
    return _mm512_sub_ps(a, _mm512_castsi512_ps(upper));
  }
};

struct Fp8 {
  static constexpr std::int64_t kBytes = 1, kParts = 1;
  static constexpr bool kAsTheyAre = false;
  pairs::Fp8 numbers;

  KVPLAN_AMX Fp8() {}
  KVPLAN_AMX void unpack(const std::byte* from, std::byte* to) const {
    const pairs::Words w = numbers.row(from, 0);
    _mm512_store_si512(to, w.low);
    _mm512_store_si512(to + kTile, w.high);
  }
};

// A block of x from a column on: [columns / 32][panel][16][row][2].
struct Input {
  const std::uint16_t* from;
  std::int64_t step;        // numbers from 32 columns to the next
  std::int64_t last_bytes;  // of a row of the last panel's tiles
};

// Tiles 0 to 3 are the sums of four panels of x, 4 and 5 hold x, 6 and 7 W.
template <int kPanels, int kPanel>
[[gnu::always_inline]] KVPLAN_AMX inline void add_panel(const std::uint16_t* x,
                                                        const Input& input) {
  if constexpr (kPanel < kPanels) {
    constexpr bool kLast = kPanel == kPanels - 1;
    constexpr int kX = kLast ? 5 : 4;
    tiles::load<kX>(x + kPanel * kTile / 2, kLast ? input.last_bytes : tiles::kRowBytes);
    tiles::Bf16::add<kPanel, 6, kX>();
  }
}
template <class Weights, int kPanels>
[[gnu::always_inline]] KVPLAN_AMX inline void add(const std::byte* w, std::int64_t w_bytes,
                                                  std::int64_t w_tile, const Input& input,
                                                  std::int64_t column) {
  const std::uint16_t* x = input.from + column / 32 * input.step;
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half, x += input.step)
#pragma GCC unroll 2
    for (int part = 0; part < Weights::kParts; ++part, w += w_tile) {
      tiles::load<6>(w, w_bytes);
      add_panel<kPanels, 0>(x, input);
      add_panel<kPanels, 1>(x, input);
      add_panel<kPanels, 2>(x, input);
      add_panel<kPanels, 3>(x, input);
    }
}

template <class Weights>
[[gnu::always_inline]] KVPLAN_AMX inline void unpack(const Weights& weights, const Source& w,
                                                     std::int64_t rows, std::int64_t column,
                                                     std::byte* to) {
  const std::byte* from = w.from + column * Weights::kBytes;
  for (std::int64_t r = 0; r < rows; ++r) weights.unpack(from + r * w.row_bytes, to + 64 * r);
}

// Numbers become tiles while those before meet x.
template <class Weights, int kPanels>
KVPLAN_AMX void add_part(const Weights& weights, const Source& w, const Input& x, const Part& p) {
  alignas(64) std::byte unpacked[2][2 * Weights::kParts * kTile];
  const std::int64_t columns = p.last - p.first;
  if constexpr (!Weights::kAsTheyAre) unpack(weights, w, p.rows, 0, unpacked[0]);
  for (std::int64_t column = 0; column < columns; column += kColumns) {
    const std::int64_t at = column * Weights::kBytes, turn = column / kColumns % 2;
    w.fetch(at, kColumns * Weights::kBytes);
    if constexpr (Weights::kAsTheyAre) {
      add<Weights, kPanels>(w.from + at, w.row_bytes, 64, x, column);
    } else {
      if (column + kColumns < columns)
        unpack(weights, w, p.rows, column + kColumns, unpacked[1 - turn]);
      add<Weights, kPanels>(unpacked[turn], 64, kTile, x, column);
    }
  }
}

template <class Weights, int kPanels>
KVPLAN_AMX void meet(const Weights& weights, const GemvRows& task, const Part& p, const Source& w) {
  const Activations& x = *task.x;
  float* y = task.y + p.row * x.padded + p.x.m0;
  const Input input{x.tile_pairs.data() + p.x.m0 * x.k + p.first * p.x.rows, 32 * p.x.rows,
                    4 * p.x.width(kPanels - 1)};
  if (p.first == 0)
    tiles::clear_first<kPanels>();
  else
    tiles::load_first<kPanels>(y, 4 * x.padded);
  add_part<Weights, kPanels>(weights, w, input, p);
  tiles::store_first<kPanels>(y, 4 * x.padded);
}

template <class Weights>
KVPLAN_AMX void in_pairs(const GemvRows& task) {
  const Activations& x = *task.x;
  const Weights weights;
  const std::int64_t row_bytes = x.k * Weights::kBytes;
  const auto place_of = [&](const Part& p) {
    return task.weights + p.row * row_bytes + p.first * Weights::kBytes;
  };
  tiles::Shapes shapes;
  amx::Parts parts(task, kPieceColumns, kTilePairRows);
  while (!parts.over()) {
    const Part p = parts.now();
    parts.advance();
    const Source w{place_of(p), place_of(parts.now()), row_bytes,
                   (p.last - p.first) * Weights::kBytes};
    const auto panels = static_cast<int>(p.x.panels()), rows = static_cast<int>(p.rows);
    for (int panel = 0; panel < panels; ++panel) shapes.set(panel, rows, 4 * p.x.width(panel));
    shapes.set(5, tiles::kRows, 4 * p.x.width(panels - 1));
    shapes.set(6, rows, tiles::kRowBytes);
    shapes.apply();
    switch (panels) {
      case 1:
        meet<Weights, 1>(weights, task, p, w);
        break;
      case 2:
        meet<Weights, 2>(weights, task, p, w);
        break;
      case 3:
        meet<Weights, 3>(weights, task, p, w);
        break;
      default:
        meet<Weights, 4>(weights, task, p, w);
    }
  }
}

}  // namespace

GemvKernel gemv_amx_pairs(const Format& format) {
  if (format.name == "bf16") return in_pairs<Bf16>;
  if (format.name == "fp16") return in_pairs<Fp16>;
  if (format.name == "fp8") return in_pairs<Fp8>;
  return nullptr;
}

}  // namespace kvplan
