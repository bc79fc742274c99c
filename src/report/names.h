// SPDX-License-Identifier: Apache-2.0
// The words of the stable JSON for enumerations.
#pragma once
#include <string_view>

#include "cost/decode.h"
#include "cost/device.h"
#include "cost/work.h"
#include "model/format.h"
#include "model/spec.h"
#include "report/value.h"

namespace kvplan {

std::string_view name_of(Bound);      // "bandwidth"
std::string_view name_of(Basis);      // "engine-rule"
std::string_view name_of(Precision);  // "bf16"

inline Value value(Bound b) { return value(name_of(b)); }
inline Value value(Basis b) { return value(name_of(b)); }
inline Value value(Role r) { return value(name_of(r)); }
inline Value value(Precision p) { return value(name_of(p)); }
inline Value value(OperatorClass c) { return value(name_of(c)); }

}  // namespace kvplan
