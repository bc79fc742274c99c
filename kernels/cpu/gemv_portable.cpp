// SPDX-License-Identifier: Apache-2.0
// Plain loops over fixed blocks: compilers vectorise them, and the order of summation is the same
// on every machine.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/gemv.h"
#include "kernels/numbers.h"

namespace kvplan {
namespace {

using Block = std::array<float, kGemvBlock>;

// A format: bytes of a block of weights, and how they become numbers. `scales` are the row's.
template <class T, float (*convert)(T)>
struct Plain {
  static constexpr std::int64_t kBytes = kGemvBlock * static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t kRowScales = 0, kBlockScales = 0;  // bytes
  [[gnu::always_inline]] static void decode(const std::byte* from, const std::byte*, Block& to) {
    std::array<T, kGemvBlock> raw;
    std::memcpy(raw.data(), from, sizeof raw);
    for (std::size_t i = 0; i < raw.size(); ++i) to[i] = convert(raw[i]);
  }
  [[gnu::always_inline]] static float row_scale(const std::byte*) { return 1; }
};

[[gnu::always_inline]] inline float same(float value) { return value; }
[[gnu::always_inline]] inline float from_byte(std::int8_t value) { return value; }

struct Int8Channel : Plain<std::int8_t, from_byte> {
  static constexpr std::int64_t kRowScales = 4;
  [[gnu::always_inline]] static float row_scale(const std::byte* scales) {
    float scale;
    std::memcpy(&scale, scales, sizeof scale);
    return scale;
  }
};

struct Int4Group128 {
  static constexpr std::int64_t kBytes = kGemvBlock / 2;
  static constexpr std::int64_t kRowScales = 0, kBlockScales = 2;
  [[gnu::always_inline]] static void decode(const std::byte* from, const std::byte* scales,
                                            Block& to) {
    std::array<std::uint8_t, kBytes> raw;
    std::memcpy(raw.data(), from, sizeof raw);
    std::uint16_t bits;
    std::memcpy(&bits, scales, sizeof bits);
    const float scale = from_fp16(bits);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      to[i] = static_cast<float>((raw[i] & 15) - 8) * scale;
      to[i + raw.size()] = static_cast<float>((raw[i] >> 4) - 8) * scale;
    }
  }
  [[gnu::always_inline]] static float row_scale(const std::byte*) { return 1; }
};

constexpr std::size_t kSums = 32;

// Rows [m0, m0 + 16) of x against one row of W.
template <class Weights>
[[gnu::always_inline]] inline void one_row(const GemvRows& task, std::int64_t row,
                                           std::int64_t m0) {
  const Activations& x = *task.x;
  const std::int64_t blocks = x.k / kGemvBlock, count = std::min(kGemvRows, x.m - m0);
  std::array<std::array<float, kSums>, kGemvRows> sums{};
  const std::byte* weights = task.weights + row * blocks * Weights::kBytes;
  const std::byte* scales =
      task.scales + row * (Weights::kRowScales + blocks * Weights::kBlockScales);
  for (std::int64_t b = 0; b < blocks; ++b) {
    Block w;
    Weights::decode(weights + b * Weights::kBytes, scales + b * Weights::kBlockScales, w);
    for (std::int64_t m = 0; m < count; ++m) {
      const float* in = x.fp32.data() + (m0 + m) * x.stride + b * kGemvBlock;
      for (std::size_t i = 0; i < w.size(); i += kSums)
        for (std::size_t j = 0; j < kSums; ++j) sums[m][j] += w[i + j] * in[i + j];
    }
  }
  for (std::int64_t m = 0; m < count; ++m) {
    float sum = 0;
    for (const float part : sums[m]) sum += part;
    task.y[row * x.padded + m0 + m] = sum * Weights::row_scale(scales);
  }
}

template <class Weights>
[[gnu::always_inline]] inline void rows_of(const GemvRows& task) {
  for (std::int64_t row = 0; row < task.rows; ++row)
    for (std::int64_t m0 = 0; m0 < task.x->m; m0 += kGemvRows) one_row<Weights>(task, row, m0);
}

using Fp32 = Plain<float, same>;
using Bf16 = Plain<std::uint16_t, from_bf16>;
using Fp16 = Plain<std::uint16_t, from_fp16>;
using Fp8 = Plain<std::uint8_t, from_fp8>;

template <class Weights>
void portable(const GemvRows& task) {
  rows_of<Weights>(task);
}
template <class Weights>
KVPLAN_AVX2 void avx2(const GemvRows& task) {
  rows_of<Weights>(task);
}

struct Row {
  std::string_view format;
  GemvKernel portable, avx2;
};
constexpr std::array kKernels = {
    Row{"fp32", portable<Fp32>, avx2<Fp32>},
    Row{"bf16", portable<Bf16>, avx2<Bf16>},
    Row{"fp16", portable<Fp16>, avx2<Fp16>},
    Row{"fp8", portable<Fp8>, avx2<Fp8>},
    Row{"int8-channel", portable<Int8Channel>, avx2<Int8Channel>},
    Row{"int4-g128", portable<Int4Group128>, avx2<Int4Group128>},
};

const Row* row_for(const Format& format) {
  const auto found = std::find_if(kKernels.begin(), kKernels.end(),
                                  [&](const Row& row) { return row.format == format.name; });
  return found == kKernels.end() ? nullptr : &*found;
}

// A tile takes as long for one row of x as for 16. Taking numbers apart for it costs what few rows
// do not repay; measured on Xeons with AMX.
std::int64_t least_rows_in_tiles(const Format& format) {
  if (format.name == "fp8") return 1;
  return format.name == "fp16" ? 5 : 3;
}

}  // namespace

GemvKernel gemv_portable(const Format& format) {
  const Row* row = row_for(format);
  return row ? row->portable : nullptr;
}

GemvKernel gemv_avx2(const Format& format) {
  const Row* row = row_for(format);
  return row ? row->avx2 : nullptr;
}

GemvChoice gemv_kernel(const Format& format, Isa isa, std::int64_t rows) {
  if (const GemvChoice blocks = gemv_blocks(format, isa); blocks.run) return blocks;
  if (isa >= Isa::amx && rows >= least_rows_in_tiles(format)) {
    if (const GemvKernel pairs = gemv_amx_pairs(format)) return {pairs, Arithmetic::bf16_tiles};
    if (const GemvKernel words = gemv_amx_words(format)) return {words, Arithmetic::word_tiles};
  }
  if (isa >= Isa::dot) {
    if (const GemvKernel pairs = gemv_dot_pairs(format)) return {pairs, Arithmetic::bf16_pairs};
    if (const GemvKernel words = gemv_dot_words(format)) return {words, Arithmetic::word_pairs};
  }
  GemvKernel kernel = nullptr;
  if (isa >= Isa::avx512) kernel = gemv_avx512(format);
  if (!kernel && isa >= Isa::avx2) kernel = gemv_avx2(format);
  return {kernel ? kernel : gemv_portable(format), Arithmetic::floats};
}

}  // namespace kvplan
