// SPDX-License-Identifier: Apache-2.0
#include "catalog/names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "error.h"

namespace kvplan {
namespace {

constexpr std::array<std::string_view, 13> kVendorWords = {
    "nvidia", "geforce", "tesla", "quadro", "amd", "radeon",  "instinct",
    "apple",  "intel",   "gpu",   "google", "aws", "graphics"};

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == '-' || c == '_' || c == '(' || c == ')';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (!is_separator(c))
      words.back() += lower(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

std::vector<std::string> texts_of(const Node& file, std::string_view key) {
  std::vector<std::string> texts;
  const Node* list = file.find(key);
  if (!list) return texts;
  if (list->kind != Node::list)
    throw Error("expected a list of names").of(std::string(key)).at_line(list->line);
  for (const Node& item : list->items) texts.push_back(item.string().value_or(""));
  return texts;
}

std::vector<std::string> sizes_of(const Node& file) {
  std::vector<std::string> sizes;
  const Node* memory = file.find("memory");
  const Node* list = memory ? memory->find("sizes") : nullptr;
  if (!list) return sizes;
  for (const Node& item : list->items)
    if (const Node* marketed = item.find("marketed")) sizes.push_back(marketed->text);
  return sizes;
}

}  // namespace

std::string normalized(std::string_view name) {
  std::string kept, all;
  for (const std::string& word : words_in(name)) {
    all += word;
    if (std::find(kVendorWords.begin(), kVendorWords.end(), word) == kVendorWords.end())
      kept += word;
  }
  return kept.empty() ? all : kept;
}

Counted counted(std::string_view typed) {
  const auto skip_spaces = [&](std::size_t i) {
    while (i < typed.size() && typed[i] == ' ') ++i;
    return i;
  };
  const std::size_t start = skip_spaces(0);
  std::size_t digits = start;
  while (digits < typed.size() && is_digit(typed[digits])) ++digits;
  const std::size_t times = skip_spaces(digits);
  constexpr std::string_view kTimesSign = "\u00d7";
  std::size_t rest = times;
  if (typed.substr(times).starts_with(kTimesSign))
    rest += kTimesSign.size();
  else if (times < typed.size() && lower(typed[times]) == 'x')
    rest += 1;
  rest = rest == times ? typed.size() : skip_spaces(rest);
  // "7900 XTX" and "6800xt" are cards, not counts.
  const std::string after = normalized(typed.substr(rest));
  const bool suffix = after == "t" || after == "tx";
  if (digits == start || rest == typed.size() || suffix) return {1, std::string(typed)};
  constexpr std::int64_t kMost = 1'000'000;
  std::int64_t count = 0;
  const auto [stop, failure] = std::from_chars(typed.data() + start, typed.data() + digits, count);
  if (failure != std::errc() || stop != typed.data() + digits || count < 1 || count > kMost)
    throw Error("'" + std::string(typed) + "' asks for a number of devices outside 1 to 1,000,000");
  return {count, std::string(typed.substr(rest))};
}

std::string without_remark(std::string_view name) {
  const std::size_t open = name.rfind('(');
  if (open == std::string_view::npos) return std::string(name);
  const std::size_t close = name.find(')', open);
  std::string rest(name.substr(0, open));
  if (close != std::string_view::npos) rest += name.substr(close + 1);
  while (!rest.empty() && rest.back() == ' ') rest.pop_back();
  return rest;
}

std::string size_word(std::string_view marketed) {
  std::string digits;
  for (const char c : marketed) {
    if (!is_digit(c) && c != '.') break;
    digits += c;
  }
  return digits + "gb";
}

std::vector<IndexedName> names_in(const Node& file) {
  const Node* name = file.find("name");
  if (!name || name->kind != Node::scalar || normalized(name->text).empty())
    throw Error("this catalog file has no name").of("name").at_line(file.line);
  std::vector<IndexedName> names = {{IndexedName::name, name->text, {}, {}}};
  for (std::string& alias : texts_of(file, "aliases"))
    names.push_back({IndexedName::alias, std::move(alias), {}, {}});
  for (std::string& family : texts_of(file, "families"))
    names.push_back({IndexedName::family, std::move(family), {}, {}});
  const std::size_t plain = names.size();
  for (const std::string& marketed : sizes_of(file))
    for (std::size_t i = 0; i < plain; ++i)
      names.push_back({names[i].use == IndexedName::name ? IndexedName::alias : names[i].use,
                       names[i].written + "-" + size_word(marketed),
                       {},
                       marketed});
  for (IndexedName& n : names) n.key = normalized(n.written);
  return names;
}

}  // namespace kvplan
