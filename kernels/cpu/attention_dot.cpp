// SPDX-License-Identifier: Apache-2.0
// Keys and values that are bf16 numbers (fp8 and int8 all are) in products of pairs. For values a
// pair is two tokens, and weights are rounded to bf16, as the tensor cores of a GPU have them.
#include "kernels/cpu/attention_scores.h"
#include "kernels/cpu/attention_weights.h"

namespace kvplan {
namespace {

template <class Stored>
struct Tile {
  Stored stored;
  alignas(64) ScoreRow scores[kQueryLanes];
  alignas(64) WeightRow weights[kQueryLanes];

  // Numbers [i, i + 32 kBlocks) of all values, for kQueries queries from r0 on. Interleaving two
  // tokens' values leaves the numbers in the order of `unpacked`, in which the state is kept.
  template <int kQueries, int kBlocks>
  KVPLAN_DOT void add_values(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                             std::int64_t r0, std::int64_t i, AttentionState& state) const {
    constexpr std::int64_t kFetched = 32 * Stored::kBytes * kBlocks;  // of the next tile a token
    __m512 sums[kQueries][kBlocks][2];
    float* out = state.out.data() + r0 * kv.value_width + i;
    for (int r = 0; r < kQueries; ++r)
      for (int b = 0; b < kBlocks; ++b)
        for (int half = 0; half < 2; ++half)
          sums[r][b][half] = _mm512_loadu_ps(out + r * kv.value_width + 32 * b + 16 * half);
    const std::byte* value = kv.values + first * kv.value_stride;
    const std::byte* next =
        kv.values + (first + kTileTokens) * kv.value_stride + Stored::kBytes * i * kTileTokens;
    for (std::int64_t t = 0; t < tokens; t += 2, value += 2 * kv.value_stride) {
      const std::byte* second = value + (t + 1 < tokens ? kv.value_stride : 0);
      if (r0 == 0) vectors::fetch(next + kFetched * t, 2 * kFetched);
      __m512bh numbers[kBlocks][2];
      for (int b = 0; b < kBlocks; ++b) {
        const pairs::Words words = stored.two_rows(value, second, i + 32 * b);
        numbers[b][0] = as_bf16(words.low);
        numbers[b][1] = as_bf16(words.high);
      }
      for (int r = 0; r < kQueries; ++r) {
        const __m512bh weight =
            repeated<16>(reinterpret_cast<const std::byte*>(weights[r0 + r] + t));
        for (int b = 0; b < kBlocks; ++b)
          for (int half = 0; half < 2; ++half)
            sums[r][b][half] = _mm512_dpbf16_ps(sums[r][b][half], numbers[b][half], weight);
      }
    }
    for (int r = 0; r < kQueries; ++r)
      for (int b = 0; b < kBlocks; ++b)
        for (int half = 0; half < 2; ++half)
          _mm512_storeu_ps(out + r * kv.value_width + 32 * b + 16 * half, sums[r][b][half]);
  }

  template <int kQueries>
  KVPLAN_DOT void add(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                      std::int64_t tokens, AttentionState& state) {
    score<Stored, kQueries>(stored, q, kv, first, tokens, scores);
    weigh<vectors::CoarsePowerOfTwo, kQueries>(q, kv, first, tokens, 0, scores, state);
    for (std::int64_t r = 0; r < q.rows; ++r)
      pack_weights(kv, first, tokens, scores[r], weights[r]);
    // As many queries and numbers at a time as leave all sums in registers.
    constexpr int kRows = std::min(kQueries, 8), kBlocks = 8 / kRows;
    std::int64_t i = 0;
    for (; i + 32 * kBlocks <= kv.value_width; i += 32 * kBlocks)
      for (std::int64_t r = 0; r < q.rows; r += kRows)
        add_values<kRows, kBlocks>(kv, first, tokens, r, i, state);
    for (; i < kv.value_width; i += 32)
      for (std::int64_t r = 0; r < q.rows; r += kRows)
        add_values<kRows, 1>(kv, first, tokens, r, i, state);
  }
};

template <class Stored, int kQueries>
void run_for(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  Tile<Stored> tile{};  // rows beyond those of q have no weight
  permute(state, q.rows, true);
  for (std::int64_t first = 0; first < kv.tokens; first += kTileTokens)
    tile.template add<kQueries>(q, kv, first, std::min(kTileTokens, kv.tokens - first), state);
  permute(state, q.rows, false);
}

template <class Stored>
void run(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  switch (q.padded) {
    case 4:
      return run_for<Stored, 4>(q, kv, state);
    case 8:
      return run_for<Stored, 8>(q, kv, state);
    default:
      return run_for<Stored, 16>(q, kv, state);
  }
}

}  // namespace

AttentionKernel attention_dot(const Format& format, std::int64_t queries) {
  if (queries <= 2) return nullptr;  // few leave lanes empty
  if (format.name == "bf16") return run<pairs::Bf16>;
  if (format.name == "fp8") return run<pairs::Fp8>;
  if (format.name == "int8-head") return run<pairs::Int8>;
  return nullptr;
}

}  // namespace kvplan
