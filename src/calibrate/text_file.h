// SPDX-License-Identifier: Apache-2.0
// A text file, compressed by gzip or not.
#pragma once
#include <string>

namespace kvplan {

// Throws Error where it cannot be read, is damaged or holds more than 256 MiB.
std::string read_maybe_compressed(const std::string& path);

}  // namespace kvplan
