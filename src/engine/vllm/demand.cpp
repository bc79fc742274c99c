// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/demand.h"

#include <algorithm>

namespace kvplan::vllm {

std::int64_t pages_of(const Demand& d, std::int64_t context) {
  switch (d.law) {
    case Demand::full:
      return checked_add(ceil_div(ceil_div(context, d.shards), d.block), d.extra);
    // A window may begin inside its first block: one block more.
    case Demand::window:
      return ceil_div(std::min(d.size - 1 + d.in_flight, context), d.block) + 1;
    case Demand::chunk:
      return ceil_div(std::min(d.size + d.in_flight, context), d.block);
    case Demand::source:
      return ceil_div(d.size, d.block);
    case Demand::fixed:
      return d.size;
  }
  return 0;
}

std::int64_t Layout::groups() const {
  std::int64_t total = 0;
  for (const Row& row : rows) total += row.groups;
  return total;
}

std::int64_t Layout::blocks_of_request(std::int64_t context) const {
  std::int64_t total = 0;
  for (const Row& row : rows)
    total = checked_add(total, checked_mul(pages_of(row.demand, context), row.weight));
  return ceil_div(total, divisor);
}

std::int64_t Layout::pages_of_request(std::int64_t context) const {
  std::int64_t total = 0;
  for (const Row& row : rows)
    total = checked_add(total, checked_mul(pages_of(row.demand, context), row.groups));
  return total;
}

std::optional<Tokens> longest_request(const Layout& layout, const Rules& rules, Bytes pool,
                                      Tokens limit) {
  std::int64_t pages = pool / layout.checked_bytes_per_block;
  if (rules.keeps_null_block) --pages;
  const auto fits = [&](std::int64_t n) { return layout.pages_of_request(n) <= pages; };
  if (limit.n < 1 || !fits(1)) return std::nullopt;
  if (fits(limit.n)) return limit;
  std::int64_t good = 1, bad = limit.n;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return Tokens(good);
}

}  // namespace kvplan::vllm
