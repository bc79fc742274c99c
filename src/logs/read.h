// SPDX-License-Identifier: Apache-2.0
// The text that an engine printed at start-up → a record. Any bytes, any size, one pass.
#pragma once
#include <istream>

#include "engine/flags.h"
#include "engine/start_log.h"

namespace kvplan {

// `engine` is empty where no line was recognised. Where the text holds several starts, the last one
// counts.
StartLog read_log(std::istream&, const FindEngine&);

}  // namespace kvplan
