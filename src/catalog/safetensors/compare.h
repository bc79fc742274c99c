// SPDX-License-Identifier: Apache-2.0
// Where a checkpoint holds more or less than its configuration says.
#pragma once
#include <vector>

#include "error.h"
#include "model/spec.h"

namespace kvplan::safetensors {

// One warning for each kind of difference, equal layers named together.
std::vector<Warning> compare(const ModelSpec& configured, const ModelSpec& stored);

}  // namespace kvplan::safetensors
