// SPDX-License-Identifier: Apache-2.0
// Which rows to leave out of a fit in turn, so that it is judged on values that it never saw.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/classes.h"

namespace kvplan {

struct Fold {
  MeasuredRows kept, out;
  std::size_t values = 0;  // of the axis, left out or not
};

// For every axis with at least 3 values, a third of its values at a time, drawn by the seed.
std::vector<Fold> folds_of(const MeasuredRows&, std::uint64_t seed);

// The outermost quarter of an axis' values, left out; empty where it has fewer than four.
struct End {
  Fold fold;
  std::int64_t border = 0;  // the outermost value that is kept
};
std::optional<End> end_of(const MeasuredRows&, std::size_t axis, bool top);

// At most `most` of the rows, drawn by the seed.
MeasuredRows thinned(const MeasuredRows&, std::size_t most, std::uint64_t seed);

}  // namespace kvplan
