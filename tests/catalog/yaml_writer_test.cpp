// SPDX-License-Identifier: Apache-2.0
#include "catalog/yaml_writer.h"

#include <doctest/doctest.h>

#include <string>

using namespace kvplan;

namespace {

std::string text(const Node& node) {
  std::string out = std::to_string(node.kind) + "'" + node.text + "'";
  for (const Node& item : node.items) out += " [" + text(item) + "]";
  for (const auto& [key, value] : node.members) out += " {" + key + ": " + text(value) + "}";
  return out;
}

void check_back(const std::string& json) {
  const Node tree = parse_json(json);
  const std::string yaml = to_yaml(tree);
  CAPTURE(yaml);
  CHECK(text(parse_yaml(yaml)) == text(tree));
}

}  // namespace

TEST_CASE("a tree reads back from the YAML that it was written as") {
  check_back(R"({"a": 1, "b": -2.5e3, "c": true, "d": null, "e": "text", "f": [], "g": {}})");
  check_back(R"({"list": [1, [2, 3], []], "maps": [{"a": {"b": [{"c": 1}]}}, {}, [{"d": 2}]]})");
  check_back(R"({"outer": {"inner": {"one": 1, "two": {"three": 3}}, "list": [{"x": "y"}]}})");
  check_back(R"({"five": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "four": {"a": 1, "b": 2}})");
}

TEST_CASE("text stays text, whatever it looks like") {
  for (const char* word : {"8",       "1e5",
                           "true",    "No",
                           "null",    "~",
                           "",        " ",
                           "a: b",    "- a",
                           "#c",      "'",
                           "\\\"",    "re:.*",
                           "*a",      "&a",
                           "%",       "@",
                           "!t",      "[x]",
                           "{x}",     "a, b",
                           ">",       "|",
                           "?",       "ü",
                           "日本",    "\\n",
                           "\\t",     "\\u0007",
                           "\\u007f", "\\ud83d\\ude00",
                           "a # b",   "model.layers.*",
                           "0x10",    "1_000",
                           ".inf"})
    check_back(std::string(R"({"key": ")") + word + R"(", "list": [")" + word + R"("], ")" + word +
               R"(x": {"m": [")" + word + R"("]}})");
}

TEST_CASE("bytes that are no UTF-8 become the replacement character") {
  for (const char* bytes :
       {"\xFF", "\xC0\x80", "\xE0\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\x80"}) {
    Node file = map();
    put(file, "name", word(bytes));
    const Node back = parse_yaml(to_yaml(file));
    CHECK(back.find("name")->text.starts_with("\xEF\xBF\xBD"));
  }
}

TEST_CASE("lists of any length stay within 100 columns") {
  Node layers = list();
  for (int i = 0; i < 200; ++i) layers.items.push_back(whole_number(i * 1'000'003));
  Node file = map();
  put(file, "layers", layers);
  const std::string yaml = to_yaml(file);
  for (std::size_t at = 0; at < yaml.size();) {
    const std::size_t end = yaml.find('\n', at);
    CHECK(end - at <= 100);
    at = end + 1;
  }
  CHECK(parse_yaml(yaml).find("layers")->items.size() == 200);
}
