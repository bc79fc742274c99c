// SPDX-License-Identifier: Apache-2.0
// Builds a Node tree from parser events, with the bounds that make hostile text harmless.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "catalog/node.h"

namespace kvplan {

class NodeBuilder {
 public:
  // All throw Error (with line) when a bound is passed or a key stands twice.
  void scalar(std::string text, bool quoted, int line);
  void null(int line);
  void open(Node::Kind kind, int line);  // list or map
  void close();
  void key(std::string text, int line);

  bool expects_key() const;  // inside a map, with no key pending
  // The finished tree; throws Error when the text held none.
  Node finish();

 private:
  Node& place(Node node);

  struct Level {
    Node node;
    std::string pending_key;
    bool has_key = false;
  };
  std::vector<Level> open_;
  Node root_;
  bool has_root_ = false;
  std::size_t count_ = 0;
};

constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;

}  // namespace kvplan
