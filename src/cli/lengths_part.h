// SPDX-License-Identifier: Apache-2.0
// What --lengths adds to an answer.
#pragma once
#include "plan/lengths.h"
#include "report/document.h"

namespace kvplan {

// Adds "lengths" and "reservations" to `part`, which the document will have as `part_name`.
void add_lengths(Document&, Object& part, const char* part_name, const LengthAnswer&);

}  // namespace kvplan
