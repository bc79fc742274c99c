// SPDX-License-Identifier: Apache-2.0
#include "logs/python.h"

namespace kvplan::logs {
namespace {

constexpr std::size_t kMostPairs = 1000;

// The end of a quoted text that starts at `at`.
std::size_t end_of_quote(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at)
    if (text[at] == '\\') ++at;
  return at + 1 < text.size() ? at + 1 : text.size();
}

// The next of ',' and a closing bracket that is not inside brackets or quotes.
std::size_t end_of_item(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      at = end_of_quote(text, at) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth < 0) return at;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

bool is_name(std::string_view key) {
  return !key.empty() && key.size() <= 128 &&
         key.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string_view::npos;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> python_pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t at = 0; at < text.size() && pairs.size() < kMostPairs;) {
    const std::size_t end = end_of_item(text, at);
    const std::string_view item = trimmed(text.substr(at, end - at));
    const std::size_t mark = item.find_first_of("=:");
    if (mark != std::string_view::npos) {
      const std::string_view key = unquoted(item.substr(0, mark));
      if (is_name(key)) pairs.emplace_back(key, unquoted(item.substr(mark + 1)));
    }
    if (end < text.size() && text[end] != ',') break;  // the bracket around it all
    at = end + 1;
  }
  return pairs;
}

std::string_view inside(std::string_view value) {
  const std::size_t open = value.find_first_of("({");
  if (open == std::string_view::npos) return {};
  return value.substr(open + 1);
}

}  // namespace kvplan::logs
