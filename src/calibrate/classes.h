// SPDX-License-Identifier: Apache-2.0
// What one law is fitted to, and along which axes shapes of a class differ.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cost/measured.h"

namespace kvplan {

using MeasuredRows = std::vector<const Measured*>;

struct Class {
  OperatorClass op = OperatorClass::gemm;
  std::string format, variant;
  friend auto operator<=>(const Class&, const Class&) = default;
};

// Products of few rows belong to two: weight_stream, and gemm, which covers all and stands last.
std::vector<Class> classes_of(const Measured&);
std::map<Class, MeasuredRows> by_class(const std::vector<Measured>&);

}  // namespace kvplan
