// SPDX-License-Identifier: Apache-2.0
#include "catalog/node.h"

#include <charconv>
#include <cmath>

#include "error.h"

namespace kvplan {
namespace {

Error wrong(const Node& node, const char* expected) {
  const std::string got = node.kind == Node::list  ? "a list"
                          : node.kind == Node::map ? "a map"
                                                   : "'" + node.text + "'";
  return Error(std::string("expected ") + expected + ", got " + got.substr(0, 80))
      .at_line(node.line);
}

template <class T>
std::optional<T> whole_text(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

Node word(std::string_view text) {
  Node node;
  node.kind = Node::scalar;
  node.text = text;
  node.quoted = true;
  return node;
}

Node whole_number(std::int64_t value) {
  Node node = word(std::to_string(value));
  node.quoted = false;
  return node;
}

Node flag(bool value) {
  Node node = word(value ? "true" : "false");
  node.quoted = false;
  return node;
}

Node list(std::vector<Node> items) {
  Node node;
  node.kind = Node::list;
  node.items = std::move(items);
  return node;
}

Node map() {
  Node node;
  node.kind = Node::map;
  return node;
}

void put(Node& map, std::string_view key, Node value) {
  map.members.emplace_back(std::string(key), std::move(value));
}

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

std::optional<std::int64_t> Node::integer() const {
  if (kind == null) return std::nullopt;
  if (kind != scalar || quoted) throw wrong(*this, "a whole number");
  if (const auto value = whole_text<std::int64_t>(text)) return value;
  // 4096.0 and 1e3 are whole numbers too, as long as a double holds them exactly.
  const auto real = whole_text<double>(text);
  if (!real || std::abs(*real) > 9007199254740992.0 || std::floor(*real) != *real)
    throw wrong(*this, "a whole number");
  return static_cast<std::int64_t>(*real);
}

std::optional<double> Node::number() const {
  if (kind == null) return std::nullopt;
  const auto value = kind == scalar && !quoted ? whole_text<double>(text) : std::nullopt;
  if (!value || !std::isfinite(*value)) throw wrong(*this, "a number");
  return value;
}

std::optional<bool> Node::boolean() const {
  if (kind == null) return std::nullopt;
  if (kind == scalar && (text == "true" || text == "True")) return true;
  if (kind == scalar && (text == "false" || text == "False")) return false;
  throw wrong(*this, "true or false");
}

std::optional<std::string> Node::string() const {
  if (kind == null) return std::nullopt;
  if (kind != scalar) throw wrong(*this, "text");
  return text;
}

}  // namespace kvplan
