// SPDX-License-Identifier: Apache-2.0
// Groups of layers with different pages in one pool: a block holds one group's layers densely.
// vllm#44376 (0.20-0.22), #44454 (0.23), #48993 (0.27).
#include <algorithm>
#include <map>

#include "engine/vllm/groups.h"

namespace kvplan::vllm {
namespace {

// Buckets that always need the same token slots.
struct Slots {
  std::vector<const Bucket*> buckets;

  const Demand& demand() const { return buckets.front()->demand; }
  bool recurrent() const { return buckets.front()->recurrent; }
  std::map<Bytes, std::int64_t> layers_by_page() const {
    std::map<Bytes, std::int64_t> counts;
    for (const Bucket* b : buckets) counts[b->page] += static_cast<std::int64_t>(b->stages.size());
    return counts;
  }
  std::int64_t repeats() const {  // of the most numerous page size
    std::int64_t most = 0;
    for (const auto& [page, layers] : layers_by_page()) most = std::max(most, layers);
    return most;
  }
  // Page sizes that do not come in equal numbers stay together.
  bool mixed() const {
    const auto counts = layers_by_page();
    return std::any_of(counts.begin(), counts.end(),
                       [&](const auto& c) { return c.second != counts.begin()->second; });
  }
};

std::vector<Slots> slots_of(const std::vector<Bucket>& buckets) {
  std::vector<Slots> all;
  for (const Bucket& b : buckets) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Slots& s) {
      return s.demand() == b.demand && s.recurrent() == b.recurrent;
    });
    if (same == all.end())
      all.push_back({{&b}});
    else
      same->buckets.push_back(&b);
  }
  return all;
}

std::vector<Group> split(const Slots& slots, std::int64_t count) {
  std::vector<Group> groups;
  for (const Bucket* b : slots.buckets) {
    std::vector<Group> parts = dealt(*b, count);
    if (groups.empty()) {
      groups = std::move(parts);
      continue;
    }
    for (std::size_t i = 0; i < groups.size(); ++i)
      groups[i].layers.insert(groups[i].layers.end(), parts[i].layers.begin(),
                              parts[i].layers.end());
  }
  return groups;
}

Bytes bytes_of(const Group& g) {
  Bytes total;
  for (const auto& layer : g.layers) total += layer.page;
  return total;
}

std::vector<Group> groups_of(const std::vector<Slots>& all) {
  std::vector<std::int64_t> counts;
  // A cache of several page sizes is one group, however many layers each size has.
  std::int64_t at_least = all.front().layers_by_page().size() > 1 ? all.front().repeats() : 1;
  for (const Slots& s : all) {
    if (s.recurrent()) continue;
    counts.push_back(s.repeats());
    if (s.mixed()) at_least = std::max(at_least, s.repeats());
  }
  const std::int64_t repeat = common_repeat(counts, at_least);
  std::vector<Group> groups;
  for (const Slots& s : all) {
    if (s.recurrent()) continue;
    for (Group& g : split(s, s.mixed() ? 1 : ceil_div(s.repeats(), repeat)))
      groups.push_back(std::move(g));
  }
  // States fill the widest of these groups, whatever their number.
  Bytes anchor;
  for (const Group& g : groups) anchor = std::max(anchor, bytes_of(g));
  for (const Slots& s : all) {
    if (!s.recurrent()) continue;
    const std::int64_t per_group = std::max<std::int64_t>(anchor / s.buckets.front()->page, 1);
    for (Group& g : split(s, ceil_div(s.repeats(), per_group))) groups.push_back(std::move(g));
  }
  return groups;
}

// Before 0.27 every page takes a slot of the next larger page of the cache group.
void pad_to_cache_pages(std::vector<Group>& groups) {
  std::vector<Bytes> sizes;
  for (const auto& layer : groups.front().layers) sizes.push_back(layer.page);
  std::sort(sizes.begin(), sizes.end());
  for (Group& g : groups)
    for (auto& layer : g.layers) {
      const auto next = std::lower_bound(sizes.begin(), sizes.end(), layer.page);
      if (next == sizes.end())
        throw Error("a page of " + std::to_string(layer.page.n) +
                    " bytes is larger than every page of the cache");
      layer.page = *next;
    }
}

using Counts = std::map<Bytes, std::int64_t>;

Counts on_stage(const Group& g, int stage) {
  Counts counts;
  for (const auto& layer : g.layers)
    if (layer.stage == stage) ++counts[layer.page];
  return counts;
}

Bytes block_bytes(const std::vector<Group>& groups, int stage, MixedBlock style) {
  Bytes largest;
  std::int64_t tuples = 0;
  Counts slots;
  for (const Group& g : groups) {
    Bytes own;
    for (const auto& [page, count] : on_stage(g, stage)) {
      own += page * count;
      slots[page] = std::max(slots[page], count);
      tuples = std::max(tuples, count);
    }
    largest = std::max(largest, own);
  }
  if (style == MixedBlock::largest_group) return largest;
  Bytes total;
  for (const auto& [page, count] : slots)
    total += page * (style == MixedBlock::padded_tuples ? tuples : count);
  return total;
}

Bytes largest_stage(const std::vector<Group>& groups, std::int64_t pp, MixedBlock style) {
  Bytes most;
  for (int stage = 0; stage < pp; ++stage) most = std::max(most, block_bytes(groups, stage, style));
  return most;
}

// A request's bytes in blocks of the cache group, rounded up once.
void weigh_by_bytes(Layout& layout, const std::vector<Group>& groups) {
  layout.divisor = bytes_of(groups.front()).n;
  for (Layout::Row& row : layout.rows) {
    row.weight = 0;
    for (const Group& g : groups)
      if (g.demand == row.demand) row.weight += bytes_of(g).n;
  }
}

}  // namespace

std::int64_t common_repeat(const std::vector<std::int64_t>& counts, std::int64_t at_least) {
  const std::int64_t most = *std::max_element(counts.begin(), counts.end());
  std::int64_t best = at_least, least_added = INT64_MAX;
  for (std::int64_t chunk = at_least; chunk <= most; ++chunk) {
    std::int64_t added = 0;
    for (std::int64_t n : counts) added += (chunk - n % chunk) % chunk;
    if (added <= least_added) least_added = added, best = chunk;
  }
  return best;
}

Layout packed_layout(const std::vector<Bucket>& buckets, const Served& served) {
  const Rules& rules = served.rules;
  std::vector<Group> groups = groups_of(slots_of(buckets));
  if (rules.mixed_block != MixedBlock::largest_group) pad_to_cache_pages(groups);
  Layout layout;
  layout.rows = rows_of(groups);
  layout.block_tokens = groups.front().demand.block;
  layout.shards = served.parallel.dcp;
  for (int stage = 0; stage < served.parallel.pp; ++stage)
    layout.stage_blocks.push_back(block_bytes(groups, stage, rules.mixed_block));
  layout.bytes_per_block = largest_stage(groups, served.parallel.pp, rules.mixed_block);
  layout.checked_bytes_per_block =
      rules.checks_own_block ? layout.bytes_per_block
                             : largest_stage(groups, served.parallel.pp, MixedBlock::padded_tuples);
  if (rules.request_in_cache_blocks) weigh_by_bytes(layout, groups);
  return layout;
}

}  // namespace kvplan::vllm
