// SPDX-License-Identifier: Apache-2.0
// What a person should know before believing the numbers of a session, and what to do about it.
#pragma once
#include <vector>

#include "calibrate/session.h"

namespace kvplan {

std::vector<Warning> remarks_on(const Session&);

}  // namespace kvplan
