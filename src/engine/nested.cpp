// SPDX-License-Identifier: Apache-2.0
#include "engine/nested.h"

#include <algorithm>
#include <cctype>

#include "error.h"

namespace kvplan {
namespace {

constexpr int kDeepest = 16;

// A reader of what flags hold: objects, lists, strings without exotic escapes, numbers and words.
class Reader {
 public:
  Reader(std::string_view name, std::string_view text) : name_(name), rest_(text) {}

  std::map<std::string, std::string> all() {
    object(name_, 0);
    if (next() != '\0') refuse();
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error("the value is not a JSON object")
        .of(name_)
        .advise("Write it as '{\"key\": value}', in single quotes.");
  }
  char next() {  // after blanks, not taken; '\0' at the end
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())))
      rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }
  void expect(char c) {
    if (next() != c) refuse();
    rest_.remove_prefix(1);
  }
  bool more(char close) {  // after an item: a comma, or the end
    if (next() == ',') return expect(','), true;
    expect(close);
    return false;
  }

  void object(const std::string& path, int depth) {
    if (depth > kDeepest) refuse();
    expect('{');
    if (next() == '}') return expect('}');
    do {
      const std::string key = path + "." + string();
      expect(':');
      value(key, depth + 1);
    } while (more('}'));
  }
  void value(const std::string& path, int depth) {
    const char c = next();
    if (c == '{') return object(path, depth);
    const std::string text = c == '[' ? list() : scalar();
    if (text != "null") found_[path] = text;
  }
  std::string list() {
    std::string text;
    expect('[');
    if (next() == ']') return expect(']'), text;
    do {
      text += (text.empty() ? "" : ",") + scalar();
    } while (more(']'));
    return text;
  }
  std::string scalar() { return next() == '"' ? string() : word(); }
  std::string word() {  // a number, true, false or null
    next();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+';
    });
    std::string text(rest_.begin(), end);
    if (text.empty()) refuse();
    rest_.remove_prefix(text.size());
    return text;
  }
  std::string string() {
    expect('"');
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) refuse();
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    expect('"');
    return text;
  }

  std::string name_;
  std::string_view rest_;
  std::map<std::string, std::string> found_;
};

bool is_bare(std::string_view text) {  // as JSON has it without quotes
  if (text == "true" || text == "false") return true;
  bool digits = false;
  for (const char c : text) {
    if (!std::isdigit(static_cast<unsigned char>(c)) && c != '.' && c != '-') return false;
    digits = digits || std::isdigit(static_cast<unsigned char>(c));
  }
  return digits;
}

std::string json_scalar(const std::string& text) {
  if (is_bare(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return quoted + "\"";
}

std::string json_value(const std::string& text) {
  if (text.find(',') == std::string::npos) return json_scalar(text);
  std::string list = "[";
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    list += (at > 0 ? "," : "") + json_scalar(text.substr(at, end - at));
    at = end + 1;
  }
  return list + "]";
}

}  // namespace

std::map<std::string, std::string> settings_of_json(std::string_view name, std::string_view json) {
  return Reader(name, json).all();
}

std::string json_of_settings(const std::map<std::string, std::string>& settings) {
  std::map<std::string, std::map<std::string, std::string>> deeper;
  std::string json;
  const auto add = [&](const std::string& key, const std::string& value) {
    json += (json.empty() ? "\"" : ",\"") + key + "\":" + value;
  };
  for (const auto& [key, value] : settings) {
    const auto dot = key.find('.');
    if (dot == std::string::npos)
      add(key, json_value(value));
    else
      deeper[key.substr(0, dot)][key.substr(dot + 1)] = value;
  }
  for (const auto& [key, inner] : deeper) add(key, json_of_settings(inner));
  return "{" + json + "}";
}

}  // namespace kvplan
