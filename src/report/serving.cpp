// SPDX-License-Identifier: Apache-2.0
#include "report/serving.h"

namespace kvplan {

std::optional<ServingCeiling> ceiling_of(const Serving& s) {
  if (!s.ceiling) return std::nullopt;
  return ServingCeiling{1 / s.ceiling->v, s.tokens_per_second(*s.ceiling), s.bound};
}

// The shortest time is the highest rate.
std::optional<ServingExpected> expected_of(const Serving& s) {
  if (!s.expected || !s.prompt_share) return std::nullopt;
  const Estimate& e = *s.expected;
  return ServingExpected{1 / e.value.v,
                         1 / e.high.v,
                         1 / e.low.v,
                         s.tokens_per_second(e.value),
                         s.tokens_per_second(e.high),
                         s.tokens_per_second(e.low),
                         s.until_done(e.value),
                         e.coverage,
                         *s.prompt_share};
}

}  // namespace kvplan
