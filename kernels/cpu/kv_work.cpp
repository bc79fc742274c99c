// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kv_work.h"

#include <algorithm>

namespace kvplan {
namespace {

constexpr std::int64_t kLine = 64;

std::int64_t scale_bytes_of(const Format& format, std::int64_t tokens) {
  return round_up(format.head_bytes * tokens, kLine);
}

RowReader reader(const Format& format, const std::byte* rows, std::int64_t stride,
                 const float* scales) {
  return [=, &format](std::int64_t token, std::span<double> row) {
    decode_row(format, rows + token * stride,
               reinterpret_cast<const std::byte*>(scales ? scales + token : nullptr), row);
  };
}

}  // namespace

std::int64_t KvEntry::bytes(std::int64_t tokens) const {
  return round_up(tokens * key_bytes(), kLine) + round_up(tokens * value_bytes(), kLine) +
         scale_bytes_of(*key, tokens) + (shared ? 0 : scale_bytes_of(*value, tokens));
}

KvRows KvEntry::rows_at(const std::byte* from, std::int64_t tokens) const {
  KvRows rows;
  const std::byte* values = from + round_up(tokens * key_bytes(), kLine);
  const std::byte* scales = values + round_up(tokens * value_bytes(), kLine);
  rows.keys = from;
  rows.values = shared ? from : values;
  if (key->head_bytes) rows.key_scales = reinterpret_cast<const float*>(scales);
  if (value->head_bytes)
    rows.value_scales =
        reinterpret_cast<const float*>(scales + (shared ? 0 : scale_bytes_of(*key, tokens)));
  rows.tokens = tokens;
  rows.key_stride = key_bytes();
  rows.value_stride = shared ? key_bytes() : value_bytes();
  rows.value_width = value_width;
  return rows;
}

RowReader KvEntry::key_reader(const KvRows& rows) const {
  return reader(*key, rows.keys, rows.key_stride, rows.key_scales);
}

RowReader KvEntry::value_reader(const KvRows& rows) const {
  return reader(*value, rows.values, rows.value_stride, rows.value_scales);
}

std::vector<std::vector<Fragment>> share_out(const KvEntry& entry, std::int64_t pairs,
                                             std::int64_t tokens, int threads) {
  const std::int64_t tiles = ceil_div(tokens, kTileTokens);  // of a pair
  std::vector<std::vector<Fragment>> shares(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    const Slice slice = slice_of(checked_mul(pairs, tiles), t, threads);
    std::int64_t offset = 0;
    for (std::int64_t tile = slice.first; tile < slice.last;) {
      const std::int64_t pair = tile / tiles, first = tile % tiles;
      const std::int64_t last = std::min(tiles, first + slice.last - tile);
      const std::int64_t count = std::min(tokens, last * kTileTokens) - first * kTileTokens;
      shares[static_cast<std::size_t>(t)].push_back({pair, first * kTileTokens, count, offset});
      offset += entry.bytes(count);
      tile += last - first;
    }
  }
  return shares;
}

Bytes most_bytes(const KvEntry& entry, const std::vector<std::vector<Fragment>>& shares) {
  std::int64_t most = 0;
  for (const auto& share : shares)
    if (!share.empty())
      most = std::max(most, share.back().offset + entry.bytes(share.back().tokens));
  return Bytes(most);
}

}  // namespace kvplan
