// SPDX-License-Identifier: Apache-2.0
#include "catalog/yaml_writer.h"

#include <algorithm>
#include <cctype>

#include "catalog/quoted.h"

namespace kvplan {
namespace {

constexpr std::size_t kWidth = 100;

// Words that YAML readers take for something else than text.
constexpr std::string_view kTaken[] = {"null", "true", "false", "yes", "no", "on",
                                       "off",  "nan",  "inf",   "y",   "n"};

// A word that no YAML reader takes for a number or for syntax.
bool is_plain(std::string_view text) {
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
  const bool safe = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_-./*+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return safe && std::find(std::begin(kTaken), std::end(kTaken), lower) == std::end(kTaken);
}

std::string scalar(const Node& node) {
  if (node.kind == Node::null) return "null";
  if (!node.quoted || is_plain(node.text)) return node.text;
  return in_quotes(node.text);
}

std::string key_text(std::string_view key) {
  return is_plain(key) ? std::string(key) : in_quotes(key);
}

bool is_nested(const Node& node) { return node.kind == Node::list || node.kind == Node::map; }

// Without maps inside, so that it reads well on a line.
bool is_flat(const Node& node) {
  const auto simple = [](const Node& item) {
    return !is_nested(item) || (item.kind == Node::list &&
                                std::none_of(item.items.begin(), item.items.end(), is_nested));
  };
  return std::all_of(node.items.begin(), node.items.end(), simple) &&
         std::all_of(node.members.begin(), node.members.end(),
                     [&](const auto& m) { return simple(m.value); });
}

class Writer {
 public:
  std::string text;

  void members(const Node& map, std::size_t indent) {
    for (const auto& [key, value] : map.members) {
      text.append(indent, ' ');
      text += key_text(key) + ":";
      value_of(value, indent);
    }
  }

 private:
  void value_of(const Node& value, std::size_t indent) {
    const bool in_lines =
        is_nested(value) && !(value.items.empty() && value.members.empty()) &&
        (!is_flat(value) || (value.kind == Node::map && value.members.size() > 4));
    if (!in_lines) {
      text += ' ';
      flow(value, indent + 4);
      text += '\n';
    } else if (value.kind == Node::map) {
      text += '\n';
      members(value, indent + 2);
    } else {
      text += '\n';
      items(value, indent + 2);
    }
  }

  // "- " and the item, whose first member stands on the same line.
  void items(const Node& list, std::size_t indent) {
    for (const Node& item : list.items) {
      text.append(indent, ' ');
      text += "- ";
      if (!is_nested(item) || is_flat(item)) {
        flow(item, indent + 4);
        text += '\n';
      } else if (item.kind == Node::map) {
        const std::size_t start = text.size();
        members(item, indent + 2);
        text.erase(start, indent + 2);
      } else {
        text += '\n';
        items(item, indent + 2);
      }
    }
  }

  std::size_t column() const { return text.size() - (text.rfind('\n') + 1); }

  void flow(const Node& node, std::size_t indent) {
    if (!is_nested(node)) {
      text += scalar(node);
      return;
    }
    const bool is_map = node.kind == Node::map;
    text += is_map ? '{' : '[';
    bool first = true;
    const auto next = [&](std::string_view key, const Node& value) {
      if (!first) text += ',';
      const std::string start = is_map ? key_text(key) + ": " : std::string();
      const std::size_t length = start.size() + (is_nested(value) ? 12 : scalar(value).size()) + 3;
      if (!first && column() + length > kWidth) {
        text += '\n';
        text.append(indent, ' ');
      } else if (!first) {
        text += ' ';
      }
      first = false;
      text += start;
      flow(value, indent + 2);
    };
    for (const Node& item : node.items) next({}, item);
    for (const auto& [key, value] : node.members) next(key, value);
    text += is_map ? '}' : ']';
  }
};

}  // namespace

std::string to_yaml(const Node& map) {
  Writer writer;
  writer.members(map, 0);
  return std::move(writer.text);
}

}  // namespace kvplan
