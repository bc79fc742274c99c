// SPDX-License-Identifier: Apache-2.0
// The patterns that tensor_roles.cpp looks names up in; the first that matches counts.
#pragma once
#include <span>

#include "catalog/tensor_roles.h"

namespace kvplan {

std::span<const TensorRole> tensor_patterns();

}  // namespace kvplan
