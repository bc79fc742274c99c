// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

namespace kvplan {

Object parameters_of(const Fit& fit) {
  return {{"start_seconds", value(fit.start)},
          {"bandwidth_share", value(fit.bandwidth_share)},
          {"arithmetic_share", value(fit.arithmetic_share)},
          {"seconds_per_serial_step", value(fit.per_serial)},
          {"seconds_per_block_byte", value(fit.per_block_byte)},
          {"sharpness", value(fit.sharpness)},
          {"ratio_low", value(fit.ratio_low)},
          {"ratio_high", value(fit.ratio_high)}};
}

}  // namespace kvplan
