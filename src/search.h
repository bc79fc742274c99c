// SPDX-License-Identifier: Apache-2.0
// Exact inversion of a monotone yes/no function over integers.
#pragma once
#include <cstdint>
#include <optional>

namespace kvplan {

// The largest n in [low, high] for which fits(n) holds, where fits holds up to some n and not
// beyond. Empty when it does not hold at `low`. Doubles the step first, so that the cost follows
// the answer and not `high`.
template <class Fits>
std::optional<std::int64_t> largest(std::int64_t low, std::int64_t high, Fits fits) {
  if (low > high || !fits(low)) return std::nullopt;
  std::int64_t good = low, bad = high;  // bad: known not to fit, once `bounded`
  bool bounded = false;
  for (std::int64_t step = 1; !bounded && good < high; step *= 2) {
    const std::int64_t next = high - good < step ? high : good + step;
    if (fits(next))
      good = next;
    else
      bad = next, bounded = true;
  }
  while (bounded && bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace kvplan
