// SPDX-License-Identifier: Apache-2.0
// argv → Request.
#pragma once
#include "cli/request.h"

namespace kvplan {

// Throws Error for an unknown command or option (with the near miss as advice), for a value that an
// option does not accept, and for a missing or superfluous argument.
Request parse(int argc, const char* const* argv);

}  // namespace kvplan
