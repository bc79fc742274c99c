// SPDX-License-Identifier: Apache-2.0
// vllm/v1/core/kv_cache_utils.py: get_kv_cache_groups and what it calls.
#include "engine/vllm/groups.h"

#include <algorithm>
#include <numeric>

namespace kvplan::vllm {
namespace {

bool one_demand(const std::vector<Bucket>& buckets) {
  return std::all_of(buckets.begin(), buckets.end(), [&](const Bucket& b) {
    return b.demand == buckets.front().demand && b.recurrent == buckets.front().recurrent;
  });
}

Bytes largest_page(const std::vector<Bucket>& buckets) {
  Bytes most;
  for (const Bucket& b : buckets) most = std::max(most, b.page);
  return most;
}

// Without the hybrid manager a window is stored like full attention.
void promote_windows(std::vector<Bucket>& buckets) {
  if (one_demand(buckets)) return;
  for (Bucket& b : buckets)
    if (b.demand.law == Demand::window || b.demand.law == Demand::chunk)
      b.demand = {Demand::full, b.demand.block, 0, 0, b.demand.shards};
}

// Makes all pages equal. False where they are to be packed instead.
bool unify_pages(std::vector<Bucket>& buckets, UnevenPages uneven) {
  const Bytes page = largest_page(buckets);
  for (const Bucket& b : buckets)
    if (!b.recurrent && page.n % b.page.n != 0) {
      if (uneven == UnevenPages::packed_by_block) return false;
      if (uneven == UnevenPages::refused)
        throw Error("this version of vLLM refuses a model whose cache pages of " +
                    std::to_string(b.page.n) + " and " + std::to_string(page.n) +
                    " bytes cannot be made equal")
            .of("kv_cache_dtype")
            .advise("Use vLLM 0.24 or later, or another cache format.");
    }
  for (Bucket& b : buckets) {
    if (!b.recurrent && (page.n % b.page.n == 0 || uneven == UnevenPages::scaled_to_fit))
      b.demand.block = checked_mul(b.demand.block, page / b.page);
    b.page = page;
  }
  return true;
}

std::int64_t layers_of(const Bucket& b) { return static_cast<std::int64_t>(b.stages.size()); }

std::int64_t group_size(const std::vector<Bucket>& buckets, double merge_below) {
  const auto [least, most] = std::minmax_element(
      buckets.begin(), buckets.end(),
      [](const Bucket& a, const Bucket& b) { return a.stages.size() < b.stages.size(); });
  const std::int64_t smallest = layers_of(*least), largest = layers_of(*most);
  return static_cast<double>(largest) < static_cast<double>(smallest) * merge_below ? largest
                                                                                    : smallest;
}

std::int64_t printed_block(const std::vector<Group>& groups) {
  std::int64_t least = 0;
  for (const Group& g : groups)
    if (!g.recurrent && (least == 0 || g.demand.block < least)) least = g.demand.block;
  return least ? least : groups.front().demand.block;
}

// Every group takes a page from each of as many pools as the widest group of the stage has layers.
std::vector<Bytes> shared_pools(const std::vector<Group>& groups, Bytes page, std::int64_t pp) {
  std::vector<Bytes> stages(static_cast<std::size_t>(pp));
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    for (const Group& g : groups) {
      const auto own = std::count_if(g.layers.begin(), g.layers.end(), [&](const auto& l) {
        return static_cast<std::size_t>(l.stage) == stage;
      });
      stages[stage] = std::max(stages[stage], page * own);
    }
  return stages;
}

std::vector<Bytes> sum_of_pages(const Group& group, std::int64_t pp) {
  std::vector<Bytes> stages(static_cast<std::size_t>(pp));
  for (const auto& layer : group.layers)
    stages[static_cast<std::size_t>(layer.stage)] += layer.page;
  return stages;
}

// Layers whose hidden states are kept for training a draft: the largest block that divides the
// groups' common one and whose rows fit a page.
Group hidden_state_group(const Served& served, const std::vector<Group>& groups, Bytes page) {
  std::int64_t common = 0;
  for (const Group& g : groups)
    if (!g.recurrent) common = std::gcd(common, g.demand.block);
  const Bytes row = payload_bytes(*served.model.native, *served.serving.draft.hidden_state_layers,
                                  served.model.hidden);
  std::int64_t block = std::min(common, std::max<std::int64_t>(page / row, 1));
  while (common % block != 0) --block;
  Group g;
  g.demand.block = block;
  g.layers = {{page, static_cast<int>(served.parallel.pp - 1)}};
  return g;
}

Layout finished(const std::vector<Group>& groups, std::vector<Bytes> stages, const Served& served) {
  Layout layout;
  layout.rows = rows_of(groups);
  layout.block_tokens = printed_block(groups);
  layout.shards = served.parallel.dcp;
  layout.bytes_per_block = *std::max_element(stages.begin(), stages.end());
  layout.checked_bytes_per_block = layout.bytes_per_block;
  if (served.rules.checks_whole_model) {
    layout.checked_bytes_per_block = Bytes(0);
    for (Bytes b : stages) layout.checked_bytes_per_block += b;
  }
  layout.stage_blocks = std::move(stages);
  return layout;
}

}  // namespace

std::vector<Layout::Row> rows_of(const std::vector<Group>& groups) {
  std::vector<Layout::Row> rows;
  for (const Group& g : groups) {
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const Layout::Row& r) { return r.demand == g.demand; });
    if (same == rows.end())
      rows.push_back({g.demand, 1, 1});
    else
      same->weight = ++same->groups;
  }
  return rows;
}

std::vector<Group> dealt(const Bucket& bucket, std::int64_t count) {
  std::vector<Group> groups(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bucket.stages.size(); ++i) {
    Group& g = groups[i % groups.size()];
    g.demand = bucket.demand;
    g.recurrent = bucket.recurrent;
    g.layers.push_back({bucket.page, bucket.stages[i]});
  }
  return groups;
}

Layout layout_of(std::vector<Bucket> buckets, const Served& served) {
  if (!served.serving.hybrid_groups) promote_windows(buckets);
  const bool hidden = served.serving.draft.hidden_state_layers.has_value();
  if (one_demand(buckets) && !hidden) {
    Group all = dealt(buckets.front(), 1).front();
    for (std::size_t i = 1; i < buckets.size(); ++i)
      for (int stage : buckets[i].stages) all.layers.push_back({buckets[i].page, stage});
    return finished({all}, sum_of_pages(all, served.parallel.pp), served);
  }
  if (!unify_pages(buckets, served.rules.uneven_pages)) return packed_layout(buckets, served);
  const std::int64_t size = group_size(buckets, served.rules.merge_below);
  std::vector<Group> groups;
  std::int64_t padding = 0;
  for (const Bucket& b : buckets) {
    const std::int64_t count = ceil_div(layers_of(b), size);
    padding += count * size - layers_of(b);
    for (Group& g : dealt(b, count)) groups.push_back(std::move(g));
  }
  const Bytes page = largest_page(buckets);
  if (hidden) groups.push_back(hidden_state_group(served, groups, page));
  Layout layout = finished(groups, shared_pools(groups, page, served.parallel.pp), served);
  layout.padding_layers = padding;
  return layout;
}

}  // namespace kvplan::vllm
