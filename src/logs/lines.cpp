// SPDX-License-Identifier: Apache-2.0
// Escape sequences: ECMA-48 (CSI ends with a byte in @..~, OSC with BEL or ESC \).
#include "logs/lines.h"

#include <algorithm>

namespace kvplan::logs {

bool Lines::get(char& c) {
  if (at_ == chunk_.size()) {
    chunk_.resize(kMost);
    in_.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
    chunk_.resize(static_cast<std::size_t>(in_.gcount()));
    at_ = 0;
    if (chunk_.empty()) return false;
  }
  c = chunk_[at_++];
  return true;
}

// Past an escape sequence; one that never ends takes no more than the line.
void Lines::skip_escape() {
  char c;
  if (!get(c)) return;
  const bool command = c == ']';
  if (c != '[' && !command) return;
  while (get(c)) {
    if (c == '\n') {
      --at_;
      return;
    }
    if (command ? c == '\a' || c == '\\' : c >= '@' && c <= '~') return;
  }
}

bool Lines::next(std::string& line) {
  line.clear();
  bool any = false, full = false;
  for (char c; get(c);) {
    any = true;
    if (c == '\n' || c == '\r') {
      number_ = newlines_ + 1;
      newlines_ += c == '\n';
      if (line.empty()) continue;
      cut_ += full;
      return true;
    }
    if (c == '\x1b')
      skip_escape();
    else if (c != '\0' && line.size() < kMost)
      line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    else
      full = full || c != '\0';
  }
  number_ = newlines_ + 1;
  cut_ += full;
  return any && !line.empty();
}

namespace {

// "\u001b[1;36m": from the end of the escaped character to that of the sequence.
std::size_t past_sequence(const std::string& line, std::size_t at) {
  if (at >= line.size() || line[at] != '[') return at;
  const std::size_t end = line.find_first_not_of("0123456789;", at + 1);
  return end == std::string::npos ? line.size() : end + 1;
}

}  // namespace

std::string unwrapped(std::string line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == line.npos || line.compare(first, 2, "{\"") != 0) return line;
  std::string plain;
  for (std::size_t i = first; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      plain += line[i];
    } else if (line[++i] == 'u') {
      const bool escape =
          line.compare(i + 1, 4, "001b") == 0 || line.compare(i + 1, 4, "001B") == 0;
      i = std::min(i + 4, line.size());
      if (escape) i = past_sequence(line, i + 1) - 1;
      plain += ' ';
    } else {
      plain += line[i] == 'n' || line[i] == 't' || line[i] == 'r' ? ' ' : line[i];
    }
  }
  return plain;
}

}  // namespace kvplan::logs
