// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/expression.h"

namespace kvplan::huggingface {
namespace {

constexpr std::size_t kMostPatterns = 256;
constexpr int kMostDepth = 8;

using Patterns = std::vector<std::string>;

// Reads an expression from left to right and keeps every pattern that it may stand for.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Patterns> whole() {
    auto all = alternatives(0);
    if (!all || at_ != text_.size()) return std::nullopt;
    for (std::string& pattern : *all) {
      if (pattern.ends_with('$'))
        pattern.pop_back();
      else
        pattern += '*';  // an expression need not reach the end of a name
      if (pattern.find('$') != pattern.npos) return std::nullopt;
    }
    return all;
  }

 private:
  bool next(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  std::optional<Patterns> alternatives(int depth) {
    if (depth > kMostDepth) return std::nullopt;
    Patterns all;
    do {
      auto one = sequence(depth);
      if (!one || all.size() + one->size() > kMostPatterns) return std::nullopt;
      all.insert(all.end(), one->begin(), one->end());
    } while (next("|"));
    return all;
  }

  std::optional<Patterns> sequence(int depth) {
    Patterns all = {""};
    while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') {
      const auto piece = element(depth);
      if (!piece || all.size() * piece->size() > kMostPatterns) return std::nullopt;
      Patterns longer;
      for (const std::string& head : all)
        for (const std::string& tail : *piece) longer.push_back(head + tail);
      all = std::move(longer);
    }
    return all;
  }

  std::optional<Patterns> element(int depth) {
    if (next("^")) return Patterns{""};
    if (next(".*?") || next(".*") || next(".+") || next("[^.]*") || next("[^.]+") ||
        next("[^\\.]+") || next("\\w+"))
      return Patterns{"*"};
    if (next("\\d+") || next("[0-9]+") || next("\\d*") || next("[0-9]*") || next("\\d"))
      return Patterns{"#"};
    if (next("(?:") || next("(")) return group(depth);
    if (next("[")) return digits_of_class();
    const bool escaped = next("\\");
    if (at_ == text_.size()) return std::nullopt;
    const char c = text_[at_++];
    const std::string_view special = "*+?{}[]()\\#";
    const bool known_escape = c == '.' || c == '-' || c == '_' || c == '/';
    if (escaped ? !known_escape : special.find(c) != special.npos) return std::nullopt;
    return maybe({std::string(1, c)});  // an unescaped '.' is meant as a dot
  }

  std::optional<Patterns> group(int depth) {
    auto inner = alternatives(depth + 1);
    if (!inner || !next(")")) return std::nullopt;
    return maybe(*inner);
  }

  // [0-2], [135]: single digits.
  std::optional<Patterns> digits_of_class() {
    Patterns all;
    while (!next("]")) {
      if (at_ + 1 >= text_.size()) return std::nullopt;
      const char first = text_[at_++];
      char last = first;
      if (next("-")) {
        if (at_ == text_.size()) return std::nullopt;
        last = text_[at_++];
      }
      if (first < '0' || last > '9' || first > last) return std::nullopt;
      for (char c = first; c <= last; ++c) all.emplace_back(1, c);
      if (all.size() > 10) return std::nullopt;
    }
    return maybe(all);
  }

  // '?' makes what stands before it optional; other repetitions are not understood.
  std::optional<Patterns> maybe(Patterns piece) {
    if (next("?")) piece.emplace_back("");
    if (at_ < text_.size() && std::string_view("*+{").find(text_[at_]) != std::string_view::npos)
      return std::nullopt;
    return piece;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> patterns_of_expression(std::string_view expression) {
  return Reader(expression).whole();
}

}  // namespace kvplan::huggingface
