// SPDX-License-Identifier: Apache-2.0
#include "catalog/fields.h"

#include <algorithm>

#include "error.h"
#include "nearest.h"

namespace kvplan {

void allow_only(const Node& map, std::initializer_list<std::string_view> keys,
                std::string_view what) {
  if (map.kind != Node::map) throw Error("expected a map of keys").at_line(map.line);
  for (const auto& [key, value] : map.members)
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw Error(std::string(what) + " has no such key here")
          .of(key)
          .at_line(value.line)
          .advise(did_you_mean(key, std::vector<std::string>(keys.begin(), keys.end())));
}

std::string text_in(const Node& map, std::string_view key) {
  const Node* text = map.find(key);
  return text ? text->string().value_or("") : "";
}

std::vector<std::string> texts_in(const Node& map, std::string_view key) {
  std::vector<std::string> texts;
  const Node* list = map.find(key);
  if (!list) return texts;
  if (list->kind != Node::list)
    throw Error("expected a list").of(std::string(key)).at_line(list->line);
  for (const Node& item : list->items) texts.push_back(item.string().value_or(""));
  return texts;
}

}  // namespace kvplan
