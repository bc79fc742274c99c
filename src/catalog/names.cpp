// SPDX-License-Identifier: Apache-2.0
#include "catalog/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "catalog/fields.h"
#include "error.h"

namespace kvplan {
namespace {

constexpr std::array<std::string_view, 12> kVendorWords = {
    "nvidia", "geforce", "tesla", "amd",    "radeon", "instinct",
    "apple",  "intel",   "gpu",   "google", "aws",    "graphics"};

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == '-' || c == '_' || c == '(' || c == ')' || c == ':';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

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

std::vector<std::string> sizes_of(const Node& file) {
  std::vector<std::string> sizes;
  const Node* memory = file.find("memory");
  const Node* list = memory ? memory->find("sizes") : nullptr;
  if (!list) return sizes;
  for (const Node& item : list->items)
    if (const Node* marketed = item.find("marketed")) sizes.push_back(marketed->text);
  return sizes;
}

constexpr std::string_view kTimesSign = "\u00d7";

// How long the sign between a number and a name is: "x", "X", "*", "\u00d7"; 0 where there is none.
std::size_t times_sign_at_start(std::string_view text) {
  if (text.starts_with(kTimesSign)) return kTimesSign.size();
  return !text.empty() && (text[0] == 'x' || text[0] == 'X' || text[0] == '*') ? 1 : 0;
}

// "RTX 3090 x2", "3090 24GB * 2": a space, a sign and a small number at the end.
Counted counted_after(const Counted& one) {
  constexpr std::int64_t kMost = 64;
  const std::string_view text = trimmed(one.name);
  std::size_t digits = text.size();
  while (digits > 0 && is_digit(text[digits - 1])) --digits;
  std::string_view name = trimmed(text.substr(0, digits));
  for (const std::string_view sign :
       {std::string_view("x"), std::string_view("X"), std::string_view("*"), kTimesSign}) {
    if (digits == text.size() || !name.ends_with(sign)) continue;
    const std::string_view before = name.substr(0, name.size() - sign.size());
    std::int64_t count = 0;
    std::from_chars(text.data() + digits, text.data() + text.size(), count);
    if (!before.ends_with(' ') || trimmed(before).empty() || count < 1 || count > kMost) continue;
    return {count, std::string(trimmed(before))};
  }
  return one;
}

// "meta-llama/Llama-3.1-8B-Instruct" is found as "Llama-3.1-8B-Instruct" too.
void add_short_ids(std::vector<IndexedName>& names) {
  std::set<std::string> known;
  for (const IndexedName& n : names) known.insert(normalized(n.written));
  const std::size_t given = names.size();
  for (std::size_t i = 0; i < given; ++i) {
    const std::size_t slash = names[i].written.find('/');
    if (slash == std::string::npos) continue;
    const std::string tail = names[i].written.substr(slash + 1);
    if (known.insert(normalized(tail)).second)
      names.push_back({IndexedName::alias, tail, {}, {}, 1, true});
  }
}

// "instances: {8: [p5.48xlarge]}".
void add_instances(const Node& file, std::vector<IndexedName>& names) {
  const Node* rented = file.find("instances");
  if (!rented) return;
  for (const auto& [key, list] : rented->members) {
    if (key == "source") continue;
    std::int64_t count = 0;
    std::from_chars(key.data(), key.data() + key.size(), count);
    if (count < 1 || std::to_string(count) != key)
      throw Error("instances are listed by how many of the device they have")
          .of("instances." + key)
          .at_line(list.line);
    for (const Node& item : list.items)
      names.push_back({IndexedName::instance, item.text, {}, {}, count, true});
  }
}

}  // namespace

bool is_vendor_word(std::string_view word) {
  return std::find(kVendorWords.begin(), kVendorWords.end(), word) != kVendorWords.end();
}

std::string normalized(std::string_view name) {
  std::string kept, all;
  for (const std::string& word : words_in(name)) {
    all += word;
    if (!is_vendor_word(word)) kept += word;
  }
  return kept.empty() ? all : kept;
}

Counted counted(std::string_view typed) {
  constexpr std::int64_t kMost = 4096;  // above it, a card's own number: "7900xtx", "9070 XT"
  const Counted one{1, std::string(typed)};
  std::string_view rest = trimmed(typed);
  for (const std::string_view two : {"dual ", "Dual "})
    if (rest.starts_with(two) && !rest.substr(two.size()).starts_with("channel"))
      return {2, std::string(trimmed(rest.substr(two.size())))};
  std::int64_t count = 0;
  const auto [stop, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
  if (failure != std::errc() || count > kMost || count < 0) return counted_after(one);
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  const bool apart = rest.starts_with(' ');
  rest = trimmed(rest);
  const std::size_t sign = times_sign_at_start(rest);
  if (sign == 0) return counted_after(one);
  rest.remove_prefix(sign);
  if (trimmed(rest).empty() || (apart && !rest.starts_with(' '))) return counted_after(one);
  if (count == 0) throw Error("'" + one.name + "' asks for no device at all");
  return {count, std::string(trimmed(rest))};
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
  std::vector<IndexedName> names = {{IndexedName::name, name->text, {}, {}, 1, false}};
  for (std::string& alias : texts_in(file, "aliases"))
    names.push_back({IndexedName::alias, std::move(alias), {}, {}, 1, false});
  add_short_ids(names);
  for (std::string& family : texts_in(file, "families"))
    names.push_back({IndexedName::family, std::move(family), {}, {}, 1, false});
  const std::size_t plain = names.size();
  for (const std::string& marketed : sizes_of(file))
    for (std::size_t i = 0; i < plain; ++i)
      names.push_back({names[i].use == IndexedName::name ? IndexedName::alias : names[i].use,
                       names[i].written + "-" + size_word(marketed),
                       {},
                       marketed,
                       1,
                       true});
  add_instances(file, names);
  for (IndexedName& n : names) n.key = normalized(n.written);
  return names;
}

}  // namespace kvplan
