// SPDX-License-Identifier: Apache-2.0
#include "report/value.h"

#include <cmath>

namespace kvplan {

Value shown_as(Value v, Show show) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double* x = std::get_if<double>(&v.v);
  if (x && show == Show::bytes && std::fabs(*x) < kExact && *x == std::floor(*x))
    v.v = static_cast<std::int64_t>(*x);
  v.show = show;
  return v;
}

}  // namespace kvplan
