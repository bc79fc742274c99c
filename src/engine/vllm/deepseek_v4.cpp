// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V4 keeps five kinds of pages: windows, compressed entries, index keys, and the running
// states of the compressors that make the latter two. vllm#44376, #44454, #48993.
#include <algorithm>

#include "engine/vllm/pages.h"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kCacheBlock = 256;  // source tokens of a page of compressed entries
constexpr std::int64_t kWindowBlock = 64;  // tokens of a window's page
constexpr std::int64_t kStatePart = 8;     // rows of a state page, one per part of the compressor
constexpr std::int64_t kPackedPage = 576;  // pages of packed 584-byte rows are multiples of it
constexpr std::int64_t kPlainPage = 512;   // pages of unpacked rows
constexpr std::int64_t kStateBytes = 4;    // fp32

// A compressor sums values and weights; ratio 4 overlaps its neighbours and keeps two of each.
std::int64_t parts_of(std::int64_t ratio) { return ratio == 4 ? 4 : 2; }

struct Pages {
  const Served& served;
  std::int64_t multiple;

  Bucket cache(const CacheGroup& g, std::int64_t block, std::int64_t ratio) const {
    Bucket b;
    b.stages = stages_of_group(g, served);
    b.demand.block = block;
    b.demand.shards = served.parallel.dcp;
    b.page = Bytes(round_up((row_bytes(g, served) * (block / ratio)).n, multiple));
    return b;
  }
  Bucket window(const CacheGroup& g, const Window& law) const {
    Bucket b = cache(g, kWindowBlock, 1);
    b.demand = {Demand::window, kWindowBlock, law.size.n, served.serving.in_flight(), 1};
    return b;
  }
  // The state behind a group of compressed entries: as many tokens as one entry sums up.
  Bucket state(const CacheGroup& g, std::int64_t ratio) const {
    std::int64_t width = 0;
    for (const Part& part : g.entry) width += part.heads * part.width;
    const std::int64_t parts = parts_of(ratio);
    const std::int64_t block = 2 * kStatePart / parts;
    const std::int64_t tokens = ratio * parts / 2;
    Bucket b;
    b.stages = stages_of_group(g, served);
    b.demand = {Demand::window, block, tokens, served.serving.in_flight(), 1};
    b.page = Bytes(round_up(checked_mul(block * parts * kStateBytes, width), multiple));
    return b;
  }
};

// Rows of 584 bytes: all but the rotary part in 8 bits, with its scales.
bool is_packed(const std::vector<CacheGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const CacheGroup& g) {
    if (g.entry.empty() || g.entry.front().role != Part::latent) return false;
    const Part& row = g.entry.front();
    return payload_bytes(*row.format, 1, row.width).n < 2 * row.width;
  });
}

}  // namespace

std::vector<Bucket> compressed_buckets(const std::vector<CacheGroup>& groups,
                                       const Served& served) {
  const Pages pages{served, is_packed(groups) ? kPackedPage : kPlainPage};
  std::vector<Bucket> caches, windows, states;
  for (const CacheGroup& g : groups) {
    if (const auto* law = std::get_if<Window>(&g.law)) {
      windows.push_back(pages.window(g, *law));
    } else if (const auto* compressed = std::get_if<Compressed>(&g.law)) {
      caches.push_back(pages.cache(g, kCacheBlock, compressed->ratio));
      states.push_back(pages.state(g, compressed->ratio));
    } else if (std::holds_alternative<All>(g.law)) {
      caches.push_back(pages.cache(g, kCacheBlock, 1));
    }
  }
  caches.insert(caches.end(), windows.begin(), windows.end());
  caches.insert(caches.end(), states.begin(), states.end());
  return caches;
}

}  // namespace kvplan::vllm
