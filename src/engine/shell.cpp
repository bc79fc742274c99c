// SPDX-License-Identifier: Apache-2.0
#include "engine/shell.h"

#include <cctype>

#include "error.h"

namespace kvplan {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::vector<std::string> all() {
    std::vector<std::string> words;
    for (skip_blanks(); !rest_.empty(); skip_blanks()) words.push_back(word());
    return words;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (is_blank(rest_.front()) || joins_lines()))
      rest_.remove_prefix(joins_lines() ? 2 : 1);
  }
  bool joins_lines() const { return rest_.starts_with("\\\n"); }

  std::string word() {
    std::string text;
    while (!rest_.empty() && !is_blank(rest_.front())) {
      const char c = take();
      if (c == '\'' || c == '"')
        quoted(c, text);
      else if (c == '\\' && !rest_.empty() && take_newline())
        continue;
      else
        text += c == '\\' && !rest_.empty() ? take() : c;
    }
    return text;
  }
  void quoted(char quote, std::string& text) {
    while (!rest_.empty() && rest_.front() != quote) {
      const char c = take();
      const bool escapes = quote == '"' && c == '\\' && !rest_.empty() &&
                           (rest_.front() == '"' || rest_.front() == '\\' || rest_.front() == '$');
      text += escapes ? take() : c;
    }
    if (rest_.empty())
      throw Error("a quote is left open").advise("Close it, and quote the whole line once more.");
    take();
  }
  bool take_newline() {
    if (rest_.front() != '\n') return false;
    take();
    return true;
  }
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<std::string> shell_words(std::string_view line) { return Words(line).all(); }

std::string shell_quoted(std::string_view word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_./:=,@+%").find(c) != std::string_view::npos;
  };
  bool safe = !word.empty();
  for (const char c : word) safe = safe && plain(c);
  if (safe) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace kvplan
