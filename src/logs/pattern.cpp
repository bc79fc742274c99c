// SPDX-License-Identifier: Apache-2.0
#include "logs/pattern.h"

#include <algorithm>

namespace kvplan::logs {
namespace {

constexpr int kTries = 16;  // places in a line where a pattern may begin

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view literal_of(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("{ "));
}

// "178,880.5": a comma only where three digits follow it.
std::size_t number_length(std::string_view text) {
  std::size_t n = text.starts_with('-');
  const std::size_t first = n;
  bool point = false;
  for (; n < text.size(); ++n) {
    if (is_digit(text[n])) continue;
    const auto digits = [&](std::size_t from, std::size_t wanted) {
      if (text.size() < from + wanted) return false;
      return std::all_of(text.begin() + from, text.begin() + from + wanted, is_digit);
    };
    if (text[n] == '.' && !point && digits(n + 1, 1)) {
      point = true;
      continue;
    }
    const bool group =
        text[n] == ',' && !point && n > first && digits(n + 1, 3) && !digits(n + 1, 4);
    if (!group) break;
  }
  return n > first ? n : 0;
}

// Up to white space, a quote, a comma, or the character that the pattern goes on with.
std::size_t word_length(std::string_view text, std::string_view rest) {
  const char stop = rest.empty() || rest.front() == '{' ? ' ' : rest.front();
  std::size_t n = 0;
  while (n < text.size() && !is_space(text[n]) && text[n] != stop && text[n] != '\'' &&
         text[n] != '"' && text[n] != ',')
    ++n;
  return n;
}

void take(Captures& found, std::string_view text) {
  if (found.count < found.at.size()) found.at[found.count++] = text;
}

// Whether all of `pattern` lies at the start of `text`. `{*}` ends at the first place where the
// text after it lies.
bool fits(std::string_view text, std::string_view pattern, Captures& found) {
  while (!pattern.empty()) {
    if (pattern.front() == ' ') {
      while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
      pattern.remove_prefix(1);
    } else if (pattern.front() == '{') {
      const char kind = pattern[1];
      pattern.remove_prefix(3);
      std::size_t n = 0;
      if (kind == 'n') n = number_length(text);
      if (kind == 'w') n = word_length(text, pattern);
      if (kind == '*') {
        const std::string_view next = literal_of(pattern);
        n = pattern.empty() ? text.size() : next.empty() ? text.find(' ') : text.find(next);
        if (n == std::string_view::npos) return false;
      } else if (n == 0) {
        return false;
      }
      take(found, text.substr(0, n));
      text.remove_prefix(n);
    } else {
      const std::string_view literal = literal_of(pattern);
      if (!text.starts_with(literal)) return false;
      text.remove_prefix(literal.size());
      pattern.remove_prefix(literal.size());
    }
  }
  return true;
}

}  // namespace

std::optional<Captures> match(std::string_view line, std::string_view pattern) {
  const std::string_view first = literal_of(pattern);
  std::size_t at = line.find(first);
  for (int i = 0; i < kTries && at != std::string_view::npos; ++i) {
    Captures found;
    if (fits(line.substr(at), pattern, found)) return found;
    at = line.find(first, at + 1);
  }
  return std::nullopt;
}

}  // namespace kvplan::logs
