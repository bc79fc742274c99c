// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kvplan {

// The whole command: parses, answers, writes. Throws Error; returns the exit status otherwise.
int run(int argc, const char* const* argv);

}  // namespace kvplan
