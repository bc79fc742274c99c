// SPDX-License-Identifier: Apache-2.0
#include "catalog/node.h"

#include <doctest/doctest.h>

#include <string>

#include "error.h"

using namespace kvplan;

TEST_CASE("bare NaN and Infinity are null, inside strings they are text") {
  const Node node =
      parse_json(R"({"a": [0.0, Infinity], "b": -Infinity, "c": NaN, "d": "NaN \" Infinity"})");
  CHECK(node.find("a")->items[1].kind == Node::null);
  CHECK(node.find("b")->kind == Node::null);
  CHECK(node.find("c")->kind == Node::null);
  CHECK(node.find("d")->string() == "NaN \" Infinity");
}

TEST_CASE("a number in quotes is text in both syntaxes") {
  for (const Node& node :
       {parse_json(R"({"a": "12", "b": 12})"), parse_yaml("a: \"12\"\nb: 12\n")}) {
    CHECK_THROWS_AS((void)node.find("a")->integer(), Error);
    CHECK(node.find("b")->integer() == 12);
  }
}

TEST_CASE("whole numbers may be written as reals, others are refused with their line") {
  const Node node =
      parse_json("{\n\"a\": 4096.0,\n\"b\": 1e3,\n\"c\": 1.5,\n\"d\": 9223372036854775808}");
  CHECK(node.find("a")->integer() == 4096);
  CHECK(node.find("b")->integer() == 1000);
  CHECK_THROWS_AS((void)node.find("d")->integer(), Error);
  try {
    (void)node.find("c")->integer();
    FAIL("1.5 is not whole");
  } catch (const Error& e) {
    CHECK(e.line == 4);
  }
}

TEST_CASE("a key that stands twice is refused in small and in large maps") {
  CHECK_THROWS_AS(parse_json(R"({"a": 1, "a": 2})"), Error);
  CHECK_THROWS_AS(parse_yaml("a: 1\na: 2\n"), Error);
  std::string large = "{\"k0\": 0";
  for (int i = 1; i < 100; ++i) large += ", \"k" + std::to_string(i) + "\": 0";
  CHECK_NOTHROW(parse_json(large + "}"));
  CHECK_THROWS_AS(parse_json(large + ", \"k7\": 1}"), Error);
}

TEST_CASE("YAML anchors, aliases and tags that refer to themselves are refused") {
  CHECK_THROWS_AS(parse_yaml("a: &a [*a]\n"), Error);
  CHECK_THROWS_AS(parse_yaml("a: &x 1\nb: *x\n"), Error);
}

TEST_CASE("deep nesting, truncation and emptiness are errors, not crashes") {
  CHECK_THROWS_AS(parse_json(std::string(100'000, '[')), Error);
  CHECK_THROWS_AS(parse_yaml(std::string(100'000, '[')), Error);
  CHECK_THROWS_AS(parse_json(R"({"a": [1, 2)"), Error);
  CHECK_THROWS_AS(parse_json(""), Error);
  CHECK_THROWS_AS(parse_yaml(""), Error);
  CHECK_THROWS_AS(parse_json("{} trailing"), Error);
}

TEST_CASE("the line of a broken JSON text is named") {
  try {
    parse_json("{\n\"a\": 1,\n\"b\" 2\n}");
    FAIL("the text is broken");
  } catch (const Error& e) {
    CHECK(e.line == 3);
  }
}
