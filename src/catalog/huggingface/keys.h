// SPDX-License-Identifier: Apache-2.0
// A configuration's keys: bounded, checked access by any of their spellings, and a record of which
// keys were read.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/node.h"
#include "error.h"

namespace kvplan::huggingface {

using Names = std::initializer_list<std::string_view>;

class Keys {
 public:
  explicit Keys(const Node& node) : node_(&node) {}

  // The first of these keys that is present and not null; every spelling counts as read.
  const Node* find(Names names) const;
  bool has(Names names) const { return find(names) != nullptr; }
  // Whole numbers within [low, high]; Error naming the key otherwise.
  std::optional<std::int64_t> integer(Names names, std::int64_t low = 0,
                                      std::int64_t high = kMost) const;
  // As above, at least 1; Error when absent.
  std::int64_t count(Names names, std::int64_t high = kMost) const;
  std::int64_t count_or(Names names, std::int64_t otherwise) const;
  bool flag(Names names, bool otherwise = false) const;
  std::optional<double> number(Names names) const;
  std::string text(Names names, std::string otherwise = {}) const;
  std::vector<std::int64_t> integers(Names names) const;  // empty when absent
  std::vector<std::string> texts(Names names) const;      // empty when absent

  std::vector<std::string> unread()
      const;  // keys whose value is not null and that nobody asked for
  const Node& node() const { return *node_; }

  static constexpr std::int64_t kMost = std::int64_t{1} << 40;

 private:
  const Node* node_;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace kvplan::huggingface
