// SPDX-License-Identifier: Apache-2.0
// Text → one small tree, whatever the syntax. Depth and size are bounded, duplicate keys and YAML
// aliases are refused, so that a hostile file costs an error message and nothing else.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvplan {

struct Node {
  enum Kind { null, scalar, list, map } kind = null;
  std::string text;         // of a scalar
  bool quoted = false;      // a string even where it looks like a number
  int line = 0;             // 1-based
  std::vector<Node> items;  // of a list
  struct Member;
  std::vector<Member> members;  // of a map, in file order

  const Node* find(std::string_view key) const;  // nullptr when absent or not a map
  // The value as a type; empty when it is null. Throws Error (with line) when it is something else.
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  std::optional<bool> boolean() const;
  std::optional<std::string> string() const;
};

struct Node::Member {
  Member(std::string k, Node v) : key(std::move(k)), value(std::move(v)) {}
  std::string key;
  Node value;
};

// Nodes that a program makes.
Node word(std::string_view text);
Node whole_number(std::int64_t value);
Node flag(bool value);
Node list(std::vector<Node> items = {});
Node map();
// Appends a member to a map.
void put(Node& map, std::string_view key, Node value);

// JSON with the bare tokens NaN, Infinity and -Infinity taken as null (published configurations
// contain them).
Node parse_json(std::string_view text);
Node parse_yaml(std::string_view text);

}  // namespace kvplan
