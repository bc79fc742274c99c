// SPDX-License-Identifier: Apache-2.0
// What a word of a typed name may be.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace kvplan {

inline bool is_number(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "250" of "250w": the digits before this ending; empty where the word is anything else.
inline std::string_view number_before(std::string_view word, std::string_view ending) {
  if (!word.ends_with(ending)) return {};
  word.remove_suffix(ending.size());
  return is_number(word) ? word : std::string_view{};
}

inline std::int64_t number_of(std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace kvplan
