// SPDX-License-Identifier: Apache-2.0
// A configuration's keys: bounded, checked access by any of their spellings, and a record of which
// keys were read.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/node.h"
#include "error.h"

namespace kvplan::huggingface {

// The spellings of one key, the usual one first: a braced list in a call, or a constant array. Only
// a view: a braced list lives as long as the call.
class Names {
 public:
  Names(std::initializer_list<std::string_view> names) {
    first_ = names.begin();
    last_ = names.end();
  }
  template <std::size_t N>
  Names(const std::string_view (&names)[N]) : first_(names), last_(names + N) {}
  const std::string_view* begin() const { return first_; }
  const std::string_view* end() const { return last_; }

 private:
  const std::string_view *first_, *last_;
};

// A view of one map. Copies, and the maps opened inside it, share one record of what was read; the
// tree must outlive them all.
class Keys {
 public:
  // `defaults` holds keys that count where the map itself lacks them.
  explicit Keys(const Node& map, const Node* defaults = nullptr);

  // The first of these keys that is present and not null; every spelling counts as read.
  const Node* find(Names) const;
  bool has(Names names) const { return find(names) != nullptr; }
  const Node& required(Names) const;  // Error when absent
  // Marks keys that are understood but change nothing in this model.
  void pass_over(Names names) const { find(names); }

  // Whole numbers within [low, high]; Error naming the key otherwise.
  std::optional<std::int64_t> integer(Names, std::int64_t low = 0, std::int64_t high = kMost) const;
  // At least 1; Error when absent, or not so many.
  std::int64_t count(Names, std::int64_t high = kMost) const;
  std::int64_t count_or(Names, std::int64_t otherwise) const;
  // A number, or a list that says the same one for every layer; Error where they differ.
  std::optional<std::int64_t> uniform(Names, std::int64_t low = 0) const;
  bool flag(Names, bool otherwise = false) const;
  std::optional<double> number(Names) const;
  std::string text(Names, std::string otherwise = {}) const;

  // A nested map; Error when the key is absent or something else.
  Keys inside(Names) const;
  std::optional<Keys> if_inside(Names) const;  // the same, but may be absent

  // A list's entry `i`: nullptr when the list is absent or empty, Error when it is too short.
  const Node* entry(Names, std::int64_t i) const;
  std::optional<std::string> entry_text(Names, std::int64_t i) const;
  std::optional<std::int64_t> entry_integer(Names, std::int64_t i) const;
  std::vector<std::int64_t> integers(Names) const;    // a whole list; empty when absent
  std::int64_t length(Names) const;                   // 0 when absent
  bool lists(Names names, std::int64_t value) const;  // false when absent

  // Keys whose value is not null and that nobody asked for, here and in the maps opened from here.
  struct Unread {
    std::string name;
    int line;
    bool off;  // its value is false: whatever it is, this model has it not
  };
  std::vector<Unread> unread() const;
  // Of a value here or in a map opened from here.
  bool has_read(const Node* value) const { return record_->read.contains(value); }
  bool has_opened(const Node* map) const { return record_->opened.contains(map); }

  [[noreturn]] void refuse(Names, const std::string& what) const;  // throws, with name and line
  const Node& node() const { return *map_; }

  // Widths, heads and ranks stay below 2^24, so that a product of two never overflows.
  static constexpr std::int64_t kMost = std::int64_t{1} << 24;
  static constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;

 private:
  struct Record {
    std::set<const Node*> read, opened;
  };
  struct Found {
    std::string_view name;
    const Node* value;
  };
  Keys(const Node& map, std::shared_ptr<Record> record) : map_(&map), record_(std::move(record)) {}
  std::optional<Found> found(Names) const;
  const Node* list(Names) const;

  const Node* map_;
  const Node* defaults_ = nullptr;
  std::shared_ptr<Record> record_;
};

}  // namespace kvplan::huggingface
