// SPDX-License-Identifier: Apache-2.0
#include "cost/pairs.h"

#include <algorithm>
#include <cmath>

namespace kvplan {
namespace {

// Σ floor(i / r), i = 1..n.
double entries_seen(double n, double r) {
  const double q = std::floor(n / r);
  return r * q * (q - 1) / 2 + q * (n - q * r + 1);
}

// Σ min(floor(i / r), most), i = 1..n: from token r · most on every query sees `most`.
double entries_seen(double n, double r, std::optional<std::int64_t> most) {
  if (!most) return entries_seen(n, r);
  const double limit = static_cast<double>(*most), below = r * limit - 1;
  return entries_seen(std::min(n, below), r) + limit * std::max(0.0, n - below);
}

}  // namespace

double query_key_pairs(const CacheGroup& group, Tokens prompt, Tokens source) {
  const double n = prompt.real();
  std::optional<std::int64_t> most = group.read_limit;
  if (std::holds_alternative<State>(group.law)) return 0;
  if (std::holds_alternative<Source>(group.law)) return n * source.real();
  if (const auto* c = std::get_if<Compressed>(&group.law))
    return entries_seen(n, static_cast<double>(c->ratio), most);
  if (const auto* c = std::get_if<Chunk>(&group.law)) {
    const double size = c->size.real(), chunks = std::floor(n / size);
    return chunks * entries_seen(size, 1, most) + entries_seen(n - chunks * size, 1, most);
  }
  if (const auto* w = std::get_if<Window>(&group.law))
    most = std::min(most.value_or(w->size.n), w->size.n);
  return entries_seen(n, 1, most);
}

}  // namespace kvplan
