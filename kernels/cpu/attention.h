// SPDX-License-Identifier: Apache-2.0
// Attention of a few queries over stored keys and values, a tile of tokens at a time, with the
// mergeable softmax state of FlashAttention (Dao et al. 2022) and FlashDecoding.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/line.h"
#include "model/format.h"

namespace kvplan {

constexpr std::int64_t kQueryLanes = 16;   // queries of a block: one vector of floats
constexpr std::int64_t kTileTokens = 128;  // keys and values of a tile stay in near caches
constexpr std::int64_t kMaxKeyWidth = 576, kMaxValueWidth = 512;  // multiples of 32

// Up to 16 queries that see the same keys, in the forms that kernels want.
struct QueryBlock {
  // [rows][width] bfloat16 bits, which stay where they are; `more`: in the other forms too.
  QueryBlock(const std::uint16_t* bits, std::int64_t rows, std::int64_t width, bool more = true);

  const std::uint16_t* bits;
  std::int64_t rows, width;
  std::int64_t padded;       // rows, as 4, 8 or 16
  float score_scale;         // log2(e) / √width: scores are exponents of 2
  std::vector<float> plain;  // [rows][width]
  // Two neighbouring bf16 numbers each, [width · padded / 32][padded][16 / padded pairs]: 16 lanes
  // are full however few rows there are.
  Lines<std::uint32_t> pairs;
};

// Consecutive tokens of one KV head. Scales (int8-head) are one fp32 per token.
struct KvRows {
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  const float* key_scales = nullptr;
  const float* value_scales = nullptr;
  std::int64_t tokens = 0;
  std::int64_t key_stride = 0, value_stride = 0;  // bytes
  std::int64_t value_width = 0;
  // Row i of the queries sees tokens [0, visible[i]); nullptr: all.
  const std::int64_t* visible = nullptr;

  KvRows part(std::int64_t first, std::int64_t count) const;  // only where all are visible
};

// Softmax so far: out = Σ 2^(score - highest) · value, and the same sum without the value.
struct AttentionState {
  explicit AttentionState(std::int64_t width);
  void reset();
  void merge(const AttentionState& other);

  std::int64_t value_width;
  std::array<float, kQueryLanes> highest, sum;
  std::vector<float> out;  // [16][value_width]
};

// Adds the tokens to the state.
using AttentionKernel = void (*)(const QueryBlock&, const KvRows&, AttentionState&);
// The same for blocks that see the same tokens, of which all but the last are full. Row r of block
// b is row 16 · b + r of KvRows::visible.
using AttentionOfBlocks = void (*)(std::span<const QueryBlock>, const KvRows&,
                                   std::span<AttentionState>);

AttentionKernel attention_portable(const Format&);
AttentionKernel attention_avx2(const Format&);
// `near`: asks memory for little in advance, see vectors::fetch_near.
AttentionKernel attention_avx512(const Format&, bool near);
AttentionKernel attention_dot(const Format&, std::int64_t queries);
AttentionOfBlocks attention_tiles(const Format&, std::int64_t queries);

struct AttentionChoice {
  AttentionKernel run = nullptr;
  AttentionOfBlocks together =
      nullptr;           // instead; both are nullptr when no kernel reads the format
  double tolerance = 0;  // relative to Σ weight · |value|
  Arithmetic arithmetic = Arithmetic::floats;

  explicit operator bool() const { return run || together; }
  void attend(std::span<const QueryBlock>, const KvRows&, std::span<AttentionState>) const;
};
// The best for blocks of `queries` rows at `isa`.
AttentionChoice attention_kernel(const Format&, std::int64_t queries, Isa isa);

}  // namespace kvplan
