// SPDX-License-Identifier: Apache-2.0
// The small language in which tables say what a line looks like.
//   {n} a number: 178,880 or 6.87 or -2   {w} a word   {*} anything, to the end where it is last
//   a space: any white space, or none     anything else: itself
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kvplan::logs {

struct Captures {
  std::array<std::string_view, 10> at;
  std::size_t count = 0;
};

// Where the pattern, which begins with text, first fits into the line. Takes time that is linear in
// the line.
std::optional<Captures> match(std::string_view line, std::string_view pattern);

}  // namespace kvplan::logs
