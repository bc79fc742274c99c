// SPDX-License-Identifier: Apache-2.0
// A printed amount against a prediction.
#pragma once
#include <string>

#include "plan/check.h"

namespace kvplan {

template <class T>
struct Prediction {
  T low{}, value{}, high{};
};

inline Amount amount(Bytes b) { return b; }
inline Amount amount(Tokens t) { return t; }
inline Amount amount(std::int64_t n) { return n; }
inline Amount amount(double x) { return x; }

// `printed` is what several ranks printed; any of theirs may be the one predicted.
template <class T>
CheckLine compared(std::string what, const Printed<T>& printed,
                   const std::optional<Prediction<T>>& predicted, std::string reason) {
  CheckLine line;
  line.what = std::move(what);
  line.line = printed.line;
  line.logged = amount(printed.least);
  line.reason = std::move(reason);
  if (!predicted) return line;
  line.predicted = amount(predicted->value);
  if (predicted->low != predicted->high) {
    line.low = amount(predicted->low);
    line.high = amount(predicted->high);
  }
  const bool apart = printed.high() < predicted->low || predicted->high < printed.low();
  line.verdict = apart ? CheckLine::differs : CheckLine::agrees;
  return line;
}

}  // namespace kvplan
