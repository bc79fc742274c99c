// SPDX-License-Identifier: Apache-2.0
#include "report/value.h"

#include <cmath>

namespace kvplan {

Value value(double x, Show show) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (show == Show::bytes && std::fabs(x) < kExact && x == std::floor(x))
    return {static_cast<std::int64_t>(x), show};
  return {x, show};
}

}  // namespace kvplan
