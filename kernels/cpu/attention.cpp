// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/numbers.h"

namespace kvplan {
namespace {

// Tokens that more than one block of queries reads again from a near cache.
constexpr std::int64_t kChunkBytes = 256 * kKiB;

}  // namespace

QueryBlock::QueryBlock(const std::uint16_t* from, std::int64_t count, std::int64_t w, bool more)
    : bits(from),
      rows(count),
      width(w),
      padded(count > 8   ? 16
             : count > 4 ? 8
                         : 4),
      score_scale(std::numbers::log2e_v<float> / std::sqrt(static_cast<float>(w))) {
  if (!more) return;
  plain.resize(static_cast<std::size_t>(rows * width));
  pairs = Lines<std::uint32_t>(padded * width / 2);
  const std::int64_t together = kQueryLanes / padded;  // pairs of a row in 16 lanes
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < width; ++i) {
      const std::uint16_t number = bits[r * width + i];
      plain[r * width + i] = from_bf16(number);
      const std::int64_t pair = i / 2;
      pairs.data()[pair / together * kQueryLanes + r * together + pair % together] |=
          static_cast<std::uint32_t>(number) << (16 * (i % 2));
    }
}

KvRows KvRows::part(std::int64_t first, std::int64_t count) const {
  KvRows rows = *this;
  rows.keys += first * key_stride;
  rows.values += first * value_stride;
  if (key_scales) rows.key_scales += first;
  if (value_scales) rows.value_scales += first;
  rows.tokens = count;
  return rows;
}

AttentionState::AttentionState(std::int64_t width)
    : value_width(width), out(static_cast<std::size_t>(kQueryLanes * width)) {
  reset();
}

void AttentionState::reset() {
  // Finite, so that the difference of two empty states is not NaN.
  highest.fill(std::numeric_limits<float>::lowest());
  sum.fill(0);
  std::fill(out.begin(), out.end(), 0.0f);
}

void AttentionState::merge(const AttentionState& other) {
  for (std::size_t row = 0; row < kQueryLanes; ++row) {
    const float top = std::max(highest[row], other.highest[row]);
    const float mine = std::exp2(highest[row] - top), theirs = std::exp2(other.highest[row] - top);
    highest[row] = top;
    sum[row] = sum[row] * mine + other.sum[row] * theirs;
    const auto first = static_cast<std::int64_t>(row) * value_width;
    for (std::int64_t i = first; i < first + value_width; ++i)
      out[i] = out[i] * mine + other.out[i] * theirs;
  }
}

void AttentionChoice::attend(std::span<const QueryBlock> blocks, const KvRows& kv,
                             std::span<AttentionState> states) const {
  if (together) return together(blocks, kv, states);
  const std::int64_t chunk =
      blocks.size() == 1 ? kv.tokens
                         : round_up(kChunkBytes / (kv.key_stride + kv.value_stride), kTileTokens);
  for (std::int64_t first = 0; first < kv.tokens; first += chunk)
    for (std::size_t b = 0; b < blocks.size(); ++b)
      run(blocks[b], kv.part(first, std::min(chunk, kv.tokens - first)), states[b]);
}

AttentionChoice attention_kernel(const Format& format, std::int64_t queries, Isa isa) {
  // Weights are rounded to bf16, 8 bits, where bf16 is multiplied; all else is float.
  if (isa >= Isa::amx)
    if (const AttentionOfBlocks kernel = attention_tiles(format, queries))
      return {nullptr, kernel, 0x1p-8, Arithmetic::bf16_tiles};
  if (isa == Isa::dot)
    if (const AttentionKernel kernel = attention_dot(format, queries))
      return {kernel, nullptr, 0x1p-8, Arithmetic::bf16_pairs};
  AttentionKernel kernel = nullptr;
  if (isa >= Isa::avx512) kernel = attention_avx512(format, isa >= Isa::amx);
  if (!kernel && isa >= Isa::avx2) kernel = attention_avx2(format);
  return {kernel ? kernel : attention_portable(format), nullptr, 0x1p-14, Arithmetic::floats};
}

}  // namespace kvplan
