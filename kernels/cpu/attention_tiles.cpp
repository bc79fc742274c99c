// SPDX-License-Identifier: Apache-2.0
// Products of keys with queries and of weights with values in tiles of AMX. Scores come out as
// tokens times queries and are turned for the softmax; weights are rounded to bf16.
#include "kernels/cpu/attention_weights.h"
#include "kernels/cpu/tile_packs.h"

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
        width_(blocks.front().width),
        queries_(count() * query_words()),
        keys_(2 * key_words() + 16),  // a row of 32 numbers is packed as 64
        values_(kTileTokens / Packs::kTokens * kv.value_width / 16 * kTileWords),
        scores_(count() * kQueryLanes * kTileTokens),
        weights_(2 * kQueryLanes * kTileTokens) {}

  KVPLAN_AMX void run() {
    for (std::int64_t b = 0; b < count(); ++b)
      Packs::queries(blocks_[b], queries_.data() + b * query_words());
    if constexpr (!Packs::kSums)
      for (std::int64_t b = 0; b < count(); ++b) permute(states_[b], blocks_[b].rows, true);
    {
      tiles::Shapes shapes;
      if constexpr (kQueries < 16) {
        for (const int scores : {0, 4}) shapes.set(scores, 16, 4 * kQueries);
        for (const int sums : {2, 3, 5}) shapes.set(sums, kQueries, 64);
        shapes.apply();
      }
      for (std::int64_t first = 0; first < kv_.tokens; first += kTileTokens)
        add(first, std::min(kTileTokens, kv_.tokens - first));
    }
    if constexpr (!Packs::kSums)
      for (std::int64_t b = 0; b < count(); ++b) permute(states_[b], blocks_[b].rows, false);
  }

 private:
  using Packs = TilePacks<Stored>;

  std::int64_t count() const { return static_cast<std::int64_t>(blocks_.size()); }
  std::int64_t steps() const { return width_ / Packs::kNumbers; }
  std::int64_t query_words() const { return steps() * kTileWords; }
  std::int64_t key_words() const { return steps() * kTileWords; }
  ScoreRow* scores_of(std::int64_t block) {
    return reinterpret_cast<ScoreRow*>(scores_.data() + block * kQueryLanes * kTileTokens);
  }

  KVPLAN_AMX void add(std::int64_t first, std::int64_t tokens) {
    score(first, tokens);
    packs_.values(kv_, first, tokens, reinterpret_cast<std::byte*>(values_.data()));
    std::int64_t b = 0;
    if constexpr (kQueries == 16)
      for (; b + 2 <= count(); b += 2) {
        weigh_block(first, tokens, b, 0);
        weigh_block(first, tokens, b + 1, 1);
        add_values<2>(tokens, b);
      }
    for (; b < count(); ++b) {
      weigh_block(first, tokens, b, 0);
      add_values<1>(tokens, b);
    }
  }

  // Of all queries.
  KVPLAN_AMX void score(std::int64_t first, std::int64_t tokens) {
    if (count() == 1) {
      for (std::int64_t t = 0; t < tokens; t += 16) score<1, 1>({keys(first, tokens, t, 0)}, 0, t);
      return;
    }
    for (std::int64_t t = 0; t < tokens; t += 32) {
      const std::array both = {keys(first, tokens, t, 0), keys(first, tokens, t + 16, 1)};
      std::int64_t b = 0;
      for (; b + 2 <= count(); b += 2) score<2, 2>(both, b, t);
      if (b < count()) score<2, 1>(both, b, t);
    }
  }

  // 16 of a tile's keys from t on, in place or packed.
  struct Keys {
    const std::byte* from = nullptr;
    std::int64_t stride = 0;
  };
  KVPLAN_AMX Keys keys(std::int64_t first, std::int64_t tokens, std::int64_t t, int place) {
    if (Packs::kInPlace && tokens - t >= 16) {
      const std::byte* from = kv_.keys + (first + t) * kv_.key_stride;
      vectors::fetch_near(from, 16 * kv_.key_stride);
      return {from, kv_.key_stride};
    }
    auto* to = reinterpret_cast<std::byte*>(keys_.data() + place * key_words());
    if (tokens > t) packs_.keys(kv_, first + t, tokens - t, width_, to);
    return {to, steps() * tiles::kRowBytes};
  }

  // kGroups times 16 keys and kBlocks blocks of queries.
  template <int kGroups, int kBlocks>
  KVPLAN_AMX void score(const std::array<Keys, kGroups>& keys, std::int64_t block, std::int64_t t) {
    const std::uint32_t* queries = queries_.data() + block * query_words();
    tiles::clear<0>();
    if constexpr (kBlocks == 2) tiles::clear<1>();
    if constexpr (kGroups == 2) tiles::clear<2>();
    if constexpr (kGroups == 2 && kBlocks == 2) tiles::clear<3>();
    for (std::int64_t step = 0; step < steps(); ++step, queries += kTileWords) {
      tiles::load<4>(queries);
      if constexpr (kBlocks == 2) tiles::load<5>(queries + query_words());
      tiles::load<6>(keys[0].from + 64 * step, keys[0].stride);
      tiles::Bf16::add<0, 6, 4>();
      if constexpr (kBlocks == 2) tiles::Bf16::add<1, 6, 5>();
      if constexpr (kGroups == 2) {
        tiles::load<7>(keys[1].from + 64 * step, keys[1].stride);
        tiles::Bf16::add<2, 7, 4>();
        if constexpr (kBlocks == 2) tiles::Bf16::add<3, 7, 5>();
      }
    }
    keep_scores<0>(scores_of(block), t);
    if constexpr (kBlocks == 2) keep_scores<1>(scores_of(block + 1), t);
    if constexpr (kGroups == 2) keep_scores<2>(scores_of(block), t + 16);
    if constexpr (kGroups == 2 && kBlocks == 2) keep_scores<3>(scores_of(block + 1), t + 16);
  }
  template <int kTile>
  KVPLAN_AMX static void keep_scores(ScoreRow* scores, std::int64_t t) {
    alignas(64) std::array<std::int32_t, 16 * kQueries> sums;
    tiles::store<kTile>(sums.data(), 4 * kQueries);
    __m512i rows[kQueries];
    for (int i = 0; i < kQueries; ++i) rows[i] = _mm512_load_si512(sums.data() + 16 * i);
    transpose<kQueries>(rows);
    for (int i = 0; i < kQueries; ++i) _mm512_store_si512(scores[i] + t, rows[i]);
  }

  KVPLAN_AMX void weigh_block(std::int64_t first, std::int64_t tokens, std::int64_t block,
                              int place) {
    KvRows kv = kv_;
    if (kv.visible) kv.visible += block * kQueryLanes;
    ScoreRow* scores = scores_of(block);
    weigh<vectors::CoarsePowerOfTwo, kQueries>(blocks_[block], kv, first, tokens, 0, scores,
                                               states_[block]);
    std::uint32_t* weights = weights_.data() + place * kQueryLanes * kTileTokens;
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

  template <int kBlocks>
  KVPLAN_AMX void add_values(std::int64_t tokens, std::int64_t block) {
    constexpr int kSum = kBlocks == 1 ? 2 : 0, kWeights = kBlocks == 1 ? 5 : 4;
    constexpr std::int64_t kWeightRow = 2 * kTileTokens * 32 / Packs::kTokens;  // bytes
    const std::int64_t out_row = 4 * kv_.value_width;
    const std::int64_t tile_row = kv_.value_width / 16 * kTileWords;
    const auto* weights = reinterpret_cast<const std::byte*>(weights_.data());
    for (std::int64_t i = 0; i < kv_.value_width; i += 32) {
      float* out = states_[block].out.data() + i;
      tiles::load<kSum>(out, out_row);
      tiles::load<kSum + 1>(out + 16, out_row);
      float* second = kBlocks == 2 ? states_[block + 1].out.data() + i : nullptr;
      if constexpr (kBlocks == 2) {
        tiles::load<2>(second, out_row);
        tiles::load<3>(second + 16, out_row);
      }
      const std::uint32_t* values = values_.data() + i / 16 * kTileWords;
      for (std::int64_t t = 0; t < tokens; t += Packs::kTokens, values += tile_row) {
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
  std::int64_t width_;
  Packs packs_;
  Lines<std::uint32_t> queries_;  // [block][step] tiles
  Lines<std::uint32_t> keys_;     // of 32 tokens
  Lines<std::uint32_t> values_;   // of kTileTokens
  Lines<float> scores_;           // [block][16][kTileTokens]
  Lines<std::uint32_t> weights_;  // [2][16][kTileTokens], bf16 or twice bf16
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

// Fewer queries are faster as floats: keys and values are packed whatever their number, and fp16
// takes the longest.
AttentionOfBlocks attention_tiles(const Format& format, std::int64_t queries) {
  if (queries <= (format.name == "fp16" ? 4 : 2)) return nullptr;
  if (format.name == "bf16") return run<pairs::Bf16>;
  if (format.name == "fp16") return run<pairs::Fp16>;
  if (format.name == "fp8") return run<pairs::Fp8>;
  if (format.name == "int8-head") return run<pairs::Int8>;
  return nullptr;
}

}  // namespace kvplan
