// SPDX-License-Identifier: Apache-2.0
// What keeping keys and values saves: the work to generate n tokens one by one, with and without a
// cache.
#pragma once
#include <cstdint>

namespace kvplan {

struct CachingWork {
  // Query-key pairs: step t compares 1 query with t keys (cached), or recomputes all t queries
  // against t keys.
  double pairs_cached = 0;    // sum of t   = n (n + 1) / 2
  double pairs_uncached = 0;  // sum of t^2 = n (n + 1) (2n + 1) / 6
  // Tokens that pass projections and MLPs: n with a cache, the whole prefix at each step without.
  double tokens_cached = 0;    // n
  double tokens_uncached = 0;  // n (n + 1) / 2
};
// n >= 0.
constexpr CachingWork caching_work(std::int64_t n) {
  const auto x = static_cast<double>(n);
  return {x * (x + 1) / 2, x * (x + 1) * (2 * x + 1) / 6, x, x * (x + 1) / 2};
}

}  // namespace kvplan
