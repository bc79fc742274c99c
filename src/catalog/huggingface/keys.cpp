// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/keys.h"

#include "nearest.h"

namespace kvplan::huggingface {
namespace {

// Runs a typed read and says which key it was, where it fails.
template <class Read>
auto reading(std::string_view key, Read read) {
  try {
    return read();
  } catch (Error& e) {
    throw e.of(std::string(key));
  }
}

// A key of the map may be a spelling of the missing one that somebody got wrong.
Error missing(const Node& map, Names names) {
  Error error("the configuration lacks a key that kv-plan needs");
  error.of(std::string(*names.begin()));
  std::vector<std::string> written;
  for (const auto& [name, value] : map.members) written.push_back(name);
  const auto near = near_misses(*names.begin(), written, 1);
  if (!near.empty()) error.advise("Is '" + near.front() + "' meant to be it?");
  return error;
}

}  // namespace

Keys::Keys(const Node& map, const Node* defaults)
    : map_(&map), defaults_(defaults), record_(std::make_shared<Record>()) {
  if (map.kind != Node::map) throw Error("expected a map of keys").at_line(map.line);
  record_->opened.insert(&map);
}

std::optional<Keys::Found> Keys::found(Names names) const {
  std::optional<Found> first;
  bool said = false;  // null is said too: it means "not this" and no default replaces it
  for (const Node* source : {map_, defaults_}) {
    if (!source || said) break;
    for (const std::string_view name : names) {
      const Node* value = source->find(name);
      if (!value) continue;
      said = true;
      record_->read.insert(value);
      if (!first && value->kind != Node::null) first = Found{name, value};
    }
  }
  return first;
}

const Node* Keys::find(Names names) const {
  const auto f = found(names);
  return f ? f->value : nullptr;
}

const Node& Keys::required(Names names) const {
  if (const Node* value = find(names)) return *value;
  throw missing(*map_, names);
}

void Keys::refuse(Names names, const std::string& what) const {
  const auto f = found(names);
  Error error(what);
  error.of(std::string(f ? f->name : *names.begin()));
  throw f ? error.at_line(f->value->line) : error;
}

std::optional<std::int64_t> Keys::integer(Names names, std::int64_t low, std::int64_t high) const {
  const auto f = found(names);
  if (!f) return std::nullopt;
  const auto n = reading(f->name, [&] { return f->value->integer(); });
  if (n && (*n < low || *n > high))
    refuse(names, std::to_string(*n) + " is not within " + std::to_string(low) + " and " +
                      std::to_string(high));
  return n;
}

std::int64_t Keys::count(Names names, std::int64_t high) const {
  if (const auto n = integer(names, 1, high)) return *n;
  throw missing(*map_, names);
}

std::int64_t Keys::count_or(Names names, std::int64_t otherwise) const {
  return integer(names, 1).value_or(otherwise);
}

std::optional<std::int64_t> Keys::uniform(Names names, std::int64_t low) const {
  const Node* said = find(names);
  if (!said || said->kind != Node::list) return integer(names, low);
  const std::vector<std::int64_t> all = integers(names);
  if (all.empty()) return std::nullopt;
  for (const std::int64_t n : all)
    if (n != all.front() || n < low)
      refuse(names, "kv-plan knows only one number for all layers here");
  return all.front();
}

bool Keys::flag(Names names, bool otherwise) const {
  const auto f = found(names);
  if (!f) return otherwise;
  return reading(f->name, [&] { return f->value->boolean(); }).value_or(otherwise);
}

std::optional<double> Keys::number(Names names) const {
  const auto f = found(names);
  if (!f) return std::nullopt;
  return reading(f->name, [&] { return f->value->number(); });
}

std::string Keys::text(Names names, std::string otherwise) const {
  const auto f = found(names);
  if (!f) return otherwise;
  return reading(f->name, [&] { return f->value->string(); }).value_or(std::move(otherwise));
}

std::optional<Keys> Keys::if_inside(Names names) const {
  const Node* map = find(names);
  if (!map) return std::nullopt;
  if (map->kind != Node::map) refuse(names, "expected a map of keys");
  record_->opened.insert(map);
  return Keys(*map, record_);
}

Keys Keys::inside(Names names) const {
  if (auto keys = if_inside(names)) return *keys;
  throw missing(*map_, names);
}

const Node* Keys::list(Names names) const {
  const Node* node = find(names);
  if (node && node->kind != Node::list) refuse(names, "expected a list");
  return node;
}

const Node* Keys::entry(Names names, std::int64_t i) const {
  const Node* node = list(names);
  if (!node || node->items.empty()) return nullptr;
  if (i >= static_cast<std::int64_t>(node->items.size()))
    refuse(names, "the list has " + std::to_string(node->items.size()) +
                      " entries, fewer than the model has layers");
  return &node->items[static_cast<std::size_t>(i)];
}

std::optional<std::string> Keys::entry_text(Names names, std::int64_t i) const {
  const Node* item = entry(names, i);
  if (!item) return std::nullopt;
  return reading(*names.begin(), [&] { return item->string(); });
}

std::optional<std::int64_t> Keys::entry_integer(Names names, std::int64_t i) const {
  const Node* item = entry(names, i);
  if (!item) return std::nullopt;
  const auto n = reading(*names.begin(), [&] { return item->integer(); });
  if (n && (*n < 0 || *n > kMost)) refuse(names, std::to_string(*n) + " is out of range");
  return n;
}

std::vector<std::int64_t> Keys::integers(Names names) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(length(names)));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = entry_integer(names, static_cast<std::int64_t>(i)).value_or(0);
  return all;
}

std::int64_t Keys::length(Names names) const {
  const Node* node = list(names);
  return node ? static_cast<std::int64_t>(node->items.size()) : 0;
}

bool Keys::lists(Names names, std::int64_t value) const {
  const Node* node = list(names);
  if (!node) return false;
  const std::string text = std::to_string(value);
  for (const Node& item : node->items)
    if (item.text == text) return true;
  return false;
}

std::vector<Keys::Unread> Keys::unread() const {
  std::vector<Unread> names;
  for (const auto& [name, value] : map_->members) {
    if (value.kind == Node::null) continue;
    if (!record_->read.contains(&value)) names.push_back({name, value.line, value.text == "false"});
    if (record_->opened.contains(&value))
      for (Unread& inner : Keys(value, record_).unread())
        names.push_back({name + "." + inner.name, inner.line, inner.off});
  }
  return names;
}

}  // namespace kvplan::huggingface
