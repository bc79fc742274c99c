// SPDX-License-Identifier: Apache-2.0
#include "catalog/quoted.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvplan {
namespace {

// The length of a well-formed UTF-8 sequence at the beginning, 0 where there is none.
std::size_t sequence(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = at(0) < 0x80   ? 1
                             : at(0) < 0xC2 ? 0
                             : at(0) < 0xE0 ? 2
                             : at(0) < 0xF0 ? 3
                             : at(0) < 0xF5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  if (length == 3 && at(0) == 0xE0 && at(1) < 0xA0) return 0;
  if (length == 4 && at(0) == 0xF0 && at(1) < 0x90) return 0;
  return length;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0)
      out += "\xEF\xBF\xBD";  // the replacement character
    else if (first == '"' || first == '\\')
      out += fmt::format("\\{}", text[0]);
    else if (first < 0x20 || first == 0x7F)
      out += fmt::format("\\x{:02x}", first);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

}  // namespace kvplan
