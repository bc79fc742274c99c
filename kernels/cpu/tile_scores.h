// SPDX-License-Identifier: Apache-2.0
// Scores of a tile of tokens as products of tiles: 16 tokens times up to 16 queries, turned for the
// softmax.
#pragma once
#include "kernels/cpu/softmax_rows.h"
#include "kernels/cpu/tile_packs.h"

namespace kvplan {

// 16 keys.
struct TileKeys {
  const std::byte* from = nullptr;
  std::int64_t stride = 0;
};

// What the two kinds of products have in common. Sums are stored as they come and turned when all
// of a tile are there: a load that gathers several stores waits until they have reached the cache.
template <int kQueries>
class TileScores {
 public:
  TileScores(std::span<const QueryBlock> blocks, const KvRows& kv, std::int64_t parts)
      : blocks_(blocks),
        kv_(kv),
        sums_(kept_words<struct Sums>(parts * count() * kTileTokens * kQueries)) {}

 protected:
  std::int64_t count() const { return static_cast<std::int64_t>(blocks_.size()); }
  std::int64_t width() const { return blocks_.front().width; }

  TileKeys in_place(std::int64_t token) const {
    const std::byte* from = kv_.keys + token * kv_.key_stride;
    vectors::fetch_near(from, 16 * kv_.key_stride);
    return {from, kv_.key_stride};
  }
  // Of tokens t to t + 16: [token][query].
  std::uint32_t* sums(std::int64_t block, std::int64_t t) {
    return sums_ + (block * kTileTokens + t) * kQueries;
  }
  template <int kTile>
  KVPLAN_AMX void keep(std::int64_t block, std::int64_t t) {
    tiles::store<kTile>(sums(block, t), 4 * kQueries);
  }

  std::span<const QueryBlock> blocks_;
  const KvRows& kv_;
  alignas(64) ScoreRow scores_[kQueryLanes];  // of one block

 private:
  std::uint32_t* sums_;  // [part][block][kTileTokens][kQueries]
};

// By pairs of bf16.
template <class Stored, int kQueries>
class PairScores : public TileScores<kQueries> {
 public:
  PairScores(std::span<const QueryBlock> blocks, const KvRows& kv)
      : Base(blocks, kv, 1),
        queries_(kept_words<struct Queries>(count() * words())),
        keys_(2 * words() + 16) {}  // a row of 32 numbers is packed as 64

  KVPLAN_AMX void pack_queries() {
    for (std::int64_t b = 0; b < count(); ++b)
      Packs::queries(this->blocks_[b], queries_ + b * words());
  }

  // Of all blocks.
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

  // [query][token]
  KVPLAN_AMX ScoreRow* of(std::int64_t block, std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; t += 16) {
      const std::uint32_t* sums = Base::sums(block, t);
      __m512i v[kQueries];
      for (int i = 0; i < kQueries; ++i) v[i] = _mm512_load_si512(sums + 16 * i);
      transpose<kQueries>(v);
      for (int i = 0; i < kQueries; ++i) _mm512_store_si512(this->scores_[i] + t, v[i]);
    }
    return this->scores_;
  }

 private:
  using Base = TileScores<kQueries>;
  using Packs = TilePacks<Stored>;
  using Base::count, Base::width;

  std::int64_t steps() const { return width() / Packs::kNumbers; }
  std::int64_t words() const { return steps() * kTileWords; }  // of 16 queries or keys

  // 16 of a tile's keys from t on, in place or packed.
  KVPLAN_AMX TileKeys keys(std::int64_t first, std::int64_t tokens, std::int64_t t, int place) {
    if (Packs::kInPlace && tokens - t >= 16) return this->in_place(first + t);
    auto* to = reinterpret_cast<std::byte*>(keys_.data() + place * words());
    if (tokens > t) packs_.keys(this->kv_, first + t, tokens - t, width(), to);
    return {to, steps() * tiles::kRowBytes};
  }

  // kGroups times 16 keys and kBlocks blocks of queries.
  template <int kGroups, int kBlocks>
  KVPLAN_AMX void score(const std::array<TileKeys, kGroups>& keys, std::int64_t block,
                        std::int64_t t) {
    const std::uint32_t* queries = queries_ + block * words();
    tiles::clear<0>();
    if constexpr (kBlocks == 2) tiles::clear<1>();
    if constexpr (kGroups == 2) tiles::clear<2>();
    if constexpr (kGroups == 2 && kBlocks == 2) tiles::clear<3>();
    for (std::int64_t step = 0; step < steps(); ++step, queries += kTileWords) {
      tiles::load<4>(queries);
      if constexpr (kBlocks == 2) tiles::load<5>(queries + words());
      tiles::load<6>(keys[0].from + 64 * step, keys[0].stride);
      tiles::Bf16::add<0, 6, 4>();
      if constexpr (kBlocks == 2) tiles::Bf16::add<1, 6, 5>();
      if constexpr (kGroups == 2) {
        tiles::load<7>(keys[1].from + 64 * step, keys[1].stride);
        tiles::Bf16::add<2, 7, 4>();
        if constexpr (kBlocks == 2) tiles::Bf16::add<3, 7, 5>();
      }
    }
    Base::template keep<0>(block, t);
    if constexpr (kBlocks == 2) Base::template keep<1>(block + 1, t);
    if constexpr (kGroups == 2) Base::template keep<2>(block, t + 16);
    if constexpr (kGroups == 2 && kBlocks == 2) Base::template keep<3>(block + 1, t + 16);
  }
  Packs packs_;
  std::uint32_t* queries_;     // [block][step] tiles
  Lines<std::uint32_t> keys_;  // of 32 tokens
};

}  // namespace kvplan
