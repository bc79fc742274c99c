// SPDX-License-Identifier: Apache-2.0
#include "engine/version.h"

#include <array>
#include <charconv>
#include <string>

#include "error.h"

namespace kvplan {

Version parse_version(std::string_view text) {
  std::string_view rest = text.starts_with('v') || text.starts_with('b') ? text.substr(1) : text;
  std::array<int, 3> numbers{};
  std::size_t found = 0;
  while (found < numbers.size()) {
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), numbers[found]);
    if (error != std::errc{} || numbers[found] < 0) break;
    ++found;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.starts_with('.')) break;
    rest.remove_prefix(1);
  }
  // What follows the numbers names a build of that release: "rc1", "post1", "dev608", "+cu128".
  if (found == 0 || text.size() > 64)
    throw Error("'" + std::string(text.substr(0, 64)) + "' is not a version")
        .advise("Write it as the engine does, for example 0.21, 0.27.1 or b7079.");
  return {numbers[0], numbers[1], numbers[2]};
}

}  // namespace kvplan
