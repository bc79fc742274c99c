// SPDX-License-Identifier: Apache-2.0
// Models as text, so that two of them can be compared and their difference read.
#pragma once
#include <string>

#include "model/spec.h"

namespace kvplan::testing {

// Everything of its caches that memory depends on, prediction layers included.
std::string caches_text(const ModelSpec&);
// Every field but the name and where the model comes from.
std::string spec_text(const ModelSpec&);

}  // namespace kvplan::testing
