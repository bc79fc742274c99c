// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/keys.h"

namespace kvplan::huggingface {
namespace {

std::string spelled(Names names) { return std::string(*names.begin()); }

// Runs a typed read and says which key it was, where it fails.
template <class Read>
auto reading(std::string_view key, Read read) {
  try {
    return read();
  } catch (Error& e) {
    throw e.of(std::string(key));
  }
}

}  // namespace

const Node* Keys::find(Names names) const {
  const Node* found = nullptr;
  for (const std::string_view name : names) {
    const Node* value = node_->find(name);
    if (!value) continue;
    read_.emplace(name);
    if (!found && value->kind != Node::null) found = value;
  }
  return found;
}

std::optional<std::int64_t> Keys::integer(Names names, std::int64_t low, std::int64_t high) const {
  const Node* value = find(names);
  if (!value) return std::nullopt;
  const auto n = reading(spelled(names), [&] { return value->integer(); });
  if (n && (*n < low || *n > high))
    throw Error(std::to_string(*n) + " is not within " + std::to_string(low) + " and " +
                std::to_string(high))
        .of(spelled(names))
        .at_line(value->line);
  return n;
}

std::int64_t Keys::count(Names names, std::int64_t high) const {
  if (const auto n = integer(names, 1, high)) return *n;
  throw Error("the configuration lacks a key that kv-plan needs").of(spelled(names));
}

std::int64_t Keys::count_or(Names names, std::int64_t otherwise) const {
  return integer(names, 1).value_or(otherwise);
}

bool Keys::flag(Names names, bool otherwise) const {
  const Node* value = find(names);
  if (!value) return otherwise;
  return reading(spelled(names), [&] { return value->boolean(); }).value_or(otherwise);
}

std::optional<double> Keys::number(Names names) const {
  const Node* value = find(names);
  if (!value) return std::nullopt;
  return reading(spelled(names), [&] { return value->number(); });
}

std::string Keys::text(Names names, std::string otherwise) const {
  const Node* value = find(names);
  if (!value) return otherwise;
  return reading(spelled(names), [&] { return value->string(); }).value_or(std::move(otherwise));
}

std::vector<std::int64_t> Keys::integers(Names names) const {
  std::vector<std::int64_t> all;
  const Node* value = find(names);
  if (!value) return all;
  for (const Node& item : value->items)
    all.push_back(reading(spelled(names), [&] { return item.integer().value_or(0); }));
  return all;
}

std::vector<std::string> Keys::texts(Names names) const {
  std::vector<std::string> all;
  const Node* value = find(names);
  if (!value) return all;
  for (const Node& item : value->items)
    all.push_back(reading(spelled(names), [&] { return item.string().value_or(""); }));
  return all;
}

std::vector<std::string> Keys::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : node_->members)
    if (value.kind != Node::null && !read_.contains(name)) names.push_back(name);
  return names;
}

}  // namespace kvplan::huggingface
