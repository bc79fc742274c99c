// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kvplan {
namespace {

constexpr char32_t kFaulty = 0xFFFD;

struct Point {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// The code point at the start of `s` (Unicode 15, table 3-7: no overlong forms, no surrogates).
Point next_point(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || s.size() < size) return {kFaulty, 1, false};
  char32_t code = lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kFaulty, 1, false};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool good = code >= kLeast[size] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return good ? Point{code, size, true} : Point{kFaulty, 1, false};
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);  // line ends, directions
}

std::size_t width_of(char32_t c) {
  if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F) ||
      (c >= 0x20D0 && c <= 0x20FF))
    return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                    (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                    (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                    (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

// Bytes of the longest start of `s` that takes at most `width` columns, at least one point.
std::size_t bytes_within(std::string_view s, std::size_t width) {
  std::size_t bytes = 0, columns = 0;
  while (bytes < s.size()) {
    const Point p = next_point(s.substr(bytes));
    if (columns + width_of(p.code) > width && bytes > 0) break;
    columns += width_of(p.code);
    bytes += p.bytes;
  }
  return bytes;
}

// Bytes of a word that fill a line: up to the last joint of a name in its second half, else all.
std::size_t broken_at(std::string_view word, std::size_t width) {
  const std::size_t most = bytes_within(word, width);
  const std::size_t joint = word.substr(0, most).find_last_of("-_/.");
  return joint != std::string_view::npos && joint >= most / 2 ? joint + 1 : most;
}

}  // namespace

std::string clean(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    const Point p = next_point(s);
    if (!p.valid)
      out += "\xEF\xBF\xBD";
    else if (is_control(p.code))
      out += ' ';
    else
      out += s.substr(0, p.bytes);
    s.remove_prefix(p.bytes);
  }
  return out;
}

std::size_t display_width(std::string_view s) {
  std::size_t columns = 0;
  while (!s.empty()) {
    const Point p = next_point(s);
    columns += width_of(p.code);
    s.remove_prefix(p.bytes);
  }
  return columns;
}

std::string padded(std::string_view text, std::size_t width, bool to_the_right) {
  const std::size_t used = display_width(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return to_the_right ? space + std::string(text) : std::string(text) + space;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 1);
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  const auto start_line = [&] {
    lines.emplace_back();
    used = 0;
  };
  while (!text.empty()) {
    if (text.front() == '\n') {
      start_line();
      text.remove_prefix(1);
      continue;
    }
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    const std::size_t wide = display_width(word);
    if (used > 0 && used + 1 + wide > width) start_line();
    if (used > 0) lines.back() += ' ', ++used;
    while (display_width(word) > width) {
      const std::size_t bytes = broken_at(word, width);
      lines.back() += word.substr(0, bytes);
      word.remove_prefix(bytes);
      start_line();
    }
    lines.back() += word;
    used += display_width(word);
  }
  return lines;
}

}  // namespace kvplan
