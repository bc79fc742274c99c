// SPDX-License-Identifier: Apache-2.0
#include "catalog/builder.h"

#include <algorithm>

#include "error.h"

namespace kvplan {
namespace {

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kMostNodes = 4'000'000;
// Published configurations have maps of some 60,000 keys (per-tensor quantisation); a linear look
// for duplicates is kept to small maps, larger ones are sorted once when they close.
constexpr std::size_t kSmallMap = 32;

Error too_big(const std::string& what, int line) {
  return Error(what).at_line(line).advise("This is not a configuration that kv-plan can read.");
}

}  // namespace

bool NodeBuilder::expects_key() const {
  return !open_.empty() && open_.back().node.kind == Node::map && !open_.back().has_key;
}

void NodeBuilder::scalar(std::string text, bool quoted, int line) {
  Node node;
  node.kind = Node::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  node.line = line;
  place(std::move(node));
}

void NodeBuilder::null(int line) {
  Node node;
  node.line = line;
  place(std::move(node));
}

void NodeBuilder::open(Node::Kind kind, int line) {
  if (open_.size() >= kMostDepth) throw too_big("nested deeper than 64 levels", line);
  Level level;
  level.node.kind = kind;
  level.node.line = line;
  open_.push_back(std::move(level));
}

void NodeBuilder::close() {
  Node node = std::move(open_.back().node);
  open_.pop_back();
  if (node.kind == Node::map && node.members.size() > kSmallMap) {
    std::vector<std::string_view> keys;
    for (const auto& member : node.members) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
      throw Error("key '" + std::string(*twice) + "' stands twice")
          .at_line(node.line)
          .of(std::string(*twice));
  }
  place(std::move(node));
}

void NodeBuilder::key(std::string text, int line) {
  Level& level = open_.back();
  if (level.node.members.size() <= kSmallMap && level.node.find(text))
    throw Error("key '" + text + "' stands twice")
        .at_line(line)
        .of(text)
        .advise("Remove one of the two.");
  level.pending_key = std::move(text);
  level.has_key = true;
}

Node& NodeBuilder::place(Node node) {
  if (++count_ > kMostNodes) throw too_big("more than 4,000,000 values", node.line);
  if (open_.empty()) {
    root_ = std::move(node);
    has_root_ = true;
    return root_;
  }
  Level& level = open_.back();
  if (level.node.kind == Node::list) return level.node.items.emplace_back(std::move(node));
  level.has_key = false;
  return level.node.members.emplace_back(std::move(level.pending_key), std::move(node)).value;
}

Node NodeBuilder::finish() {
  if (!has_root_)
    throw Error("the text is empty").advise("Give a file with a configuration in it.");
  return std::move(root_);
}

}  // namespace kvplan
