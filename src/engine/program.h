// SPDX-License-Identifier: Apache-2.0
// Which engine the words of a command line start: a program, a Python module or a container image.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace kvplan {

struct Started {
  std::string engine, version;  // the version where an image's tag says one, or empty
  std::size_t at = 0;           // the word that starts it; environment and launchers stand before
  std::size_t flags_from = 0;
};
// Throws Error where no engine is started.
Started engine_started(const std::vector<std::string>& words);

}  // namespace kvplan
