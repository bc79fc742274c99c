// SPDX-License-Identifier: Apache-2.0
#include "catalog/runs_file.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"

using namespace kvplan;

namespace {

std::string shipped() {
  const Catalog catalog("");
  const auto entry = catalog.find("runs", "llama.cpp");
  REQUIRE(entry);
  return runs_text(read_entry(*entry, [](const Node& file) { return read_runs(file); }));
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = shipped();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a file of runs reads back to what it was written from") {
  const std::string text = shipped();
  CHECK(runs_text(read_runs(parse_yaml(text))) == text);
}

TEST_CASE("a file of runs that lacks a constant, has an unknown key or no interval is refused") {
  CHECK_THROWS_AS(read_runs(parse_yaml(changed("    cache: ", "    cash: "))), Error);
  CHECK_THROWS_AS(read_runs(parse_yaml(changed("devices:", "gadgets:"))), Error);
  CHECK_THROWS_AS(read_runs(parse_yaml(changed("low: 0.", "low: 7."))), Error);
  CHECK_THROWS_AS(read_runs(parse_yaml(changed("decode: [", "decode: [nan, "))), Error);
  CHECK_THROWS_AS(read_runs(parse_yaml("[]")), Error);
}
