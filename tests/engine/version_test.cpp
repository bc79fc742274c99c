// SPDX-License-Identifier: Apache-2.0
#include "engine/version.h"

#include <doctest/doctest.h>

#include <array>

#include "engine/settings.h"

using namespace kvplan;

TEST_CASE("a version is its leading numbers, whatever build of it follows") {
  CHECK(parse_version("0.21") == Version{0, 21, 0});
  CHECK(parse_version("v0.27.1") == Version{0, 27, 1});
  CHECK(parse_version("0.11.1rc2") == Version{0, 11, 1});
  CHECK(parse_version("0.26.1rc1.dev608") == Version{0, 26, 1});
  CHECK(parse_version("0.9") < parse_version("0.10"));
}

TEST_CASE("text that is no version is refused") {
  CHECK_THROWS_AS(parse_version(""), Error);
  CHECK_THROWS_AS(parse_version("latest"), Error);
  CHECK_THROWS_AS(parse_version("-1.2"), Error);
  CHECK_THROWS_AS(parse_version("99999999999999999999"), Error);
}

TEST_CASE("rules fold up to the asked version") {
  struct Counts {
    int value = 0;
  };
  constexpr std::array rows = {
      Rule<Counts>{"first", {0, 1}, "", [](Counts& c) { c.value += 1; }},
      Rule<Counts>{"second", {0, 2}, "", [](Counts& c) { c.value += 10; }},
  };
  CHECK(folded<Counts>(rows, {0, 0, 9}).value == 0);
  CHECK(folded<Counts>(rows, {0, 1}).value == 1);
  CHECK(folded<Counts>(rows, {0, 3}).value == 11);
}

TEST_CASE("settings are read as the type that is asked for") {
  EngineOptions options;
  options.settings = {{"a", "8k"}, {"b", "True"}, {"c", "2.5GiB"}, {"d", "0.9"}, {"e", "soon"}};
  const Settings settings(options);
  CHECK(settings.integer("a") == 8192);
  CHECK(settings.boolean("b") == true);
  CHECK(settings.bytes("c") == Bytes(2684354560));
  CHECK(settings.number("d") == 0.9);
  CHECK_FALSE(settings.integer("missing").has_value());
  CHECK_THROWS_AS(settings.integer("e"), Error);
  CHECK_THROWS_AS(settings.boolean("a"), Error);
  CHECK_THROWS_AS(settings.bytes("e"), Error);
}
