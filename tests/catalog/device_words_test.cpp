// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_words.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

std::vector<std::string> names(std::string_view typed) {
  std::vector<std::string> all;
  for (const DeviceSpec& d : devices_named(Catalog(), typed)) all.push_back(d.name);
  return all;
}

}  // namespace

TEST_CASE("a sum of devices is the parts of one machine, in order") {
  using Names = std::vector<std::string>;
  CHECK(names("rtx-4090+2xrtx-3090") == Names{"rtx-4090", "rtx-3090", "rtx-3090"});
  CHECK(names("2 x 3090 + RTX 4090") == Names{"rtx-3090", "rtx-3090", "rtx-4090"});
  CHECK(names("rtx-4090") == Names{"rtx-4090"});
  CHECK(names("2xrtx-3090") == Names{"rtx-3090", "rtx-3090"});
}

TEST_CASE("a plus sign that belongs to a name is no sum") {
  using Names = std::vector<std::string>;
  CHECK(names("xeon-8480+") == Names{"xeon-8480+"});
  CHECK(names("rtx-4090+xeon-8480+") == Names{"rtx-4090", "xeon-8480+"});
  CHECK(names("xeon-8480++rtx-4090") == Names{"xeon-8480+", "rtx-4090"});
  CHECK(names("AI Max+ 395").size() == 1);
}

TEST_CASE("the first unknown part of a sum is named, with a near miss") {
  try {
    names("rtx-4090+rtx-3091");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("rtx-3091") != std::string::npos);
    CHECK(e.advice.find("rtx-3090") != std::string::npos);
  }
  CHECK_THROWS_AS(names("rtx-4090+"), Error);
  CHECK_THROWS_AS(names("+"), Error);
  CHECK_THROWS_AS(names("0xrtx-4090+rtx-3090"), Error);
  CHECK_THROWS_AS(names("65xrtx-4090"), Error);
  CHECK_THROWS_AS(names(std::string(5000, '+')), Error);
}
