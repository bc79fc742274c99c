// SPDX-License-Identifier: Apache-2.0
#include "calibrate/left_out.h"

#include <algorithm>
#include <set>

namespace kvplan {
namespace {

constexpr std::size_t kFolds = 3;  // of the values of an axis
constexpr std::size_t kEnd = 4;    // one in so many is an end

// SplitMix64 (Steele, Lea, Flood 2014): the same draw on every machine.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::map<std::int64_t, std::size_t> fold_by_value(const MeasuredRows& rows, std::size_t axis,
                                                  std::uint64_t seed) {
  std::set<std::int64_t> values;
  for (const Measured* row : rows) values.insert(axes_of(row->shape)[axis]);
  std::vector<std::int64_t> order(values.begin(), values.end());
  const auto key = [&](std::int64_t v) {
    return mixed(seed ^ mixed(static_cast<std::uint64_t>(v)));
  };
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
  std::map<std::int64_t, std::size_t> folds;
  for (std::size_t i = 0; i < order.size(); ++i) folds[order[i]] = i % kFolds;
  return folds;
}

}  // namespace

std::vector<Fold> folds_of(const MeasuredRows& rows, std::uint64_t seed) {
  std::vector<Fold> folds;
  const std::size_t axes = axes_of(rows.front()->shape).size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const auto fold_of = fold_by_value(rows, axis, seed);
    if (fold_of.size() < kFolds) continue;
    for (std::size_t f = 0; f < kFolds; ++f) {
      Fold fold;
      fold.values = fold_of.size();
      for (const Measured* row : rows)
        (fold_of.at(axes_of(row->shape)[axis]) == f ? fold.out : fold.kept).push_back(row);
      folds.push_back(std::move(fold));
    }
  }
  return folds;
}

std::optional<End> end_of(const MeasuredRows& rows, std::size_t axis, bool top) {
  std::set<std::int64_t> all;
  for (const Measured* row : rows) all.insert(axes_of(row->shape)[axis]);
  if (all.size() < kEnd) return std::nullopt;
  std::vector<std::int64_t> values(all.begin(), all.end());
  if (top) std::reverse(values.begin(), values.end());
  End end;
  end.border = values[values.size() / kEnd];
  end.fold.values = values.size();
  for (const Measured* row : rows) {
    const std::int64_t value = axes_of(row->shape)[axis];
    const bool beyond = top ? value > end.border : value < end.border;
    (beyond ? end.fold.out : end.fold.kept).push_back(row);
  }
  return end;
}

MeasuredRows thinned(const MeasuredRows& rows, std::size_t most, std::uint64_t seed) {
  if (rows.size() <= most) return rows;
  MeasuredRows some;
  const std::uint64_t limit = UINT64_MAX / rows.size() * most;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (mixed(seed ^ mixed(i)) < limit) some.push_back(rows[i]);
  return some;
}

}  // namespace kvplan
