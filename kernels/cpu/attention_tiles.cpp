// SPDX-License-Identifier: Apache-2.0
// Attention by products of tiles of AMX. Weights are rounded to bf16.
#include "kernels/cpu/attention_weights.h"
#include "kernels/cpu/tile_scores_bytes.h"

namespace kvplan {
namespace {

// A block of at most kQueries queries, or pairs of full ones.
template <class Stored, int kQueries>
class TilesPass {
 public:
  TilesPass(std::span<const QueryBlock> blocks, const KvRows& kv, std::span<AttentionState> states)
      : blocks_(blocks),
        kv_(kv),
        states_(states),
        scores_(blocks, kv),
        values_(kept_words<struct Values>(
            std::max(kv.value_width, kTileTokens / Packs::kTokens * kNumbers) / 16 * kTileWords)),
        weights_(kept_words<struct Weights>(count() * kQueryLanes * kTileTokens)) {}

  KVPLAN_AMX void run() {
    scores_.pack_queries();
    if constexpr (Packs::kUnpacked)
      for (std::int64_t b = 0; b < count(); ++b) permute(states_[b], blocks_[b].rows, true);
    {
      tiles::Shapes shapes;
      if constexpr (kQueries < 16) {
        for (const int scores : {0, 1, 4}) shapes.set(scores, 16, 4 * kQueries);
        for (const int sums : {2, 3, 5}) shapes.set(sums, kQueries, 64);
        shapes.apply();
      }
      for (std::int64_t first = 0; first < kv_.tokens; first += kTileTokens)
        add(first, std::min(kTileTokens, kv_.tokens - first));
    }
    if constexpr (Packs::kUnpacked)
      for (std::int64_t b = 0; b < count(); ++b) permute(states_[b], blocks_[b].rows, false);
  }

 private:
  using Packs = TilePacks<Stored>;
  using Scores = std::conditional_t<std::is_same_v<Stored, pairs::Int8>, ByteScores<kQueries>,
                                    PairScores<Stored, kQueries>>;

  static constexpr std::int64_t kNumbers = 64;  // of values that are packed for all tokens

  std::int64_t count() const { return static_cast<std::int64_t>(blocks_.size()); }

  KVPLAN_AMX void add(std::int64_t first, std::int64_t tokens) {
    scores_.score(first, tokens);
    for (std::int64_t b = 0; b < count(); ++b) weigh_block(first, tokens, b);
    if (count() == 1 && kv_.values != kv_.keys)
      add_by_tokens(first, tokens);
    else
      add_by_numbers(first, tokens);
  }
  // What is packed at a time stays in the first-level cache. Values from memory are read in order.
  KVPLAN_AMX void add_by_tokens(std::int64_t first, std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; t += Packs::kTokens) {
      const std::int64_t some = std::min(Packs::kTokens, tokens - t);
      packs_.values(kv_, first + t, some, 0, kv_.value_width,
                    reinterpret_cast<std::byte*>(values_));
      add_values<1>(t, t + some, 0, kv_.value_width, 0);
    }
  }
  // Values of many queries, or that are the keys, are in a near cache: all tokens meet a sum at
  // once.
  KVPLAN_AMX void add_by_numbers(std::int64_t first, std::int64_t tokens) {
    for (std::int64_t i = 0; i < kv_.value_width; i += kNumbers) {
      const std::int64_t last = std::min(i + kNumbers, kv_.value_width);
      packs_.values(kv_, first, tokens, i, last, reinterpret_cast<std::byte*>(values_));
      std::int64_t b = 0;
      for (; b + 2 <= count(); b += 2) add_values<2>(0, tokens, i, last, b);
      if (b < count()) add_values<1>(0, tokens, i, last, b);
    }
  }

  KVPLAN_AMX void weigh_block(std::int64_t first, std::int64_t tokens, std::int64_t block) {
    KvRows kv = kv_;
    if (kv.visible) kv.visible += block * kQueryLanes;
    ScoreRow* scores = scores_.of(block, tokens);
    weigh<vectors::CoarsePowerOfTwo, kQueries>(blocks_[block], kv, first, tokens, 0, scores,
                                               states_[block]);
    std::uint32_t* weights = weights_ + block * kQueryLanes * kTileTokens;
    for (int r = 0; r < kQueries; ++r) {
      if constexpr (Packs::kSums) {
        for (std::int64_t t = 0; t < kTileTokens; t += 16)
          _mm512_store_si512(weights + r * kTileTokens + t,
                             Packs::twice(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(
                                 scaled_weights(kv, first, tokens, scores[r], t)))));
      } else {
        pack_weights(kv, first, tokens, scores[r], reinterpret_cast<WeightRow*>(weights)[r]);
      }
    }
  }

  // Numbers [first, last) of tokens [from, to), which are packed.
  template <int kBlocks>
  KVPLAN_AMX void add_values(std::int64_t from, std::int64_t to, std::int64_t first,
                             std::int64_t last, std::int64_t block) {
    constexpr int kSum = kBlocks == 1 ? 2 : 0, kWeights = kBlocks == 1 ? 5 : 4;
    constexpr std::int64_t kWeightRow = 2 * kTileTokens * 32 / Packs::kTokens;  // bytes
    const std::int64_t out_row = 4 * kv_.value_width;
    const std::int64_t tile_row = (last - first) / 16 * kTileWords;
    const auto* weights =
        reinterpret_cast<const std::byte*>(weights_ + block * kQueryLanes * kTileTokens);
    for (std::int64_t i = first; i < last; i += 32) {
      float* out = states_[block].out.data() + i;
      tiles::load<kSum>(out, out_row);
      tiles::load<kSum + 1>(out + 16, out_row);
      float* second = kBlocks == 2 ? states_[block + 1].out.data() + i : nullptr;
      if constexpr (kBlocks == 2) {
        tiles::load<2>(second, out_row);
        tiles::load<3>(second + 16, out_row);
      }
      const std::uint32_t* values = values_ + (i - first) / 16 * kTileWords;
      for (std::int64_t t = from; t < to; t += Packs::kTokens, values += tile_row) {
        const std::byte* of_tile = weights + t / Packs::kTokens * 64;
        tiles::load<kWeights>(of_tile, kWeightRow);
        tiles::load<6>(values);
        tiles::Bf16::add<kSum, kWeights, 6>();
        tiles::load<7>(values + kTileWords);
        tiles::Bf16::add<kSum + 1, kWeights, 7>();
        if constexpr (kBlocks == 2) {
          tiles::load<5>(of_tile + 4 * kQueryLanes * kTileTokens, kWeightRow);
          tiles::Bf16::add<2, 5, 6>();
          tiles::Bf16::add<3, 5, 7>();
        }
      }
      tiles::store<kSum>(out, out_row);
      tiles::store<kSum + 1>(out + 16, out_row);
      if constexpr (kBlocks == 2) {
        tiles::store<2>(second, out_row);
        tiles::store<3>(second + 16, out_row);
      }
    }
  }

  std::span<const QueryBlock> blocks_;
  const KvRows& kv_;
  std::span<AttentionState> states_;
  Packs packs_;
  Scores scores_;
  std::uint32_t* values_;   // [tokens][numbers] tiles
  std::uint32_t* weights_;  // [block][16][kTileTokens], bf16 or twice bf16
};

template <class Stored, int kQueries>
void run_for(std::span<const QueryBlock> blocks, const KvRows& kv,
             std::span<AttentionState> states) {
  TilesPass<Stored, kQueries>(blocks, kv, states).run();
}

template <class Stored>
void run(std::span<const QueryBlock> blocks, const KvRows& kv, std::span<AttentionState> states) {
  const std::int64_t padded = blocks.size() > 1 ? kQueryLanes : blocks.front().padded;
  if (padded == 4) return run_for<Stored, 4>(blocks, kv, states);
  if (padded == 8) return run_for<Stored, 8>(blocks, kv, states);
  run_for<Stored, 16>(blocks, kv, states);
}

}  // namespace

// One or two are as fast as floats, which are more exact.
AttentionOfBlocks attention_tiles(const Format& format, std::int64_t queries) {
  if (queries <= 2) return nullptr;
  if (format.name == "bf16") return run<pairs::Bf16>;
  if (format.name == "fp16") return run<pairs::Fp16>;
  if (format.name == "fp8") return run<pairs::Fp8>;
  if (format.name == "int8-head") return run<pairs::Int8>;
  return nullptr;
}

}  // namespace kvplan
