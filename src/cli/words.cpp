// SPDX-License-Identifier: Apache-2.0
#include "cli/words.h"

#include <fmt/format.h>

#include <cctype>

#include "error.h"

namespace kvplan {

void refuse(std::string_view word, std::string_view problem, std::string_view hint) {
  constexpr std::size_t kShown = 60;
  const bool cut = word.size() > kShown;
  Error error(fmt::format("\"{}{}\" {}", word.substr(0, kShown), cut ? "…" : "", problem));
  throw error.advise(std::string(hint));
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::string lowered(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = s.find(separator, at);
    parts.push_back(trimmed(s.substr(at, end - at)));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

}  // namespace kvplan
