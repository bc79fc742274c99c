// SPDX-License-Identifier: Apache-2.0
#include "nearest.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace kvplan;

namespace {
const std::vector<std::string> kDevices = {"rtx-4090",  "rtx-4080", "h100-sxm",
                                           "h100-pcie", "h200-sxm", "mi300x"};
}

TEST_CASE("the nearest name comes first, whatever its case and dashes") {
  CHECK(near_misses("RTX4909", kDevices).at(0) == "rtx-4090");
  CHECK(near_misses("h100 smx", kDevices).at(0) == "h100-sxm");
}

TEST_CASE("part of a name finds the names that hold it") {
  CHECK(near_misses("h100", kDevices) == std::vector<std::string>{"h100-sxm", "h100-pcie"});
}

TEST_CASE("nothing is suggested for a name that resembles nothing") {
  CHECK(near_misses("banana", kDevices).empty());
  CHECK(near_misses("", kDevices).empty());
  CHECK(did_you_mean("banana", kDevices).empty());
}

TEST_CASE("a suggestion is a question in plain words") {
  CHECK(did_you_mean("mi300", kDevices) == "Did you mean mi300x?");
  CHECK(did_you_mean("h100", kDevices) == "Did you mean h100-sxm or h100-pcie?");
}

TEST_CASE("a very long name costs no more than a short one") {
  CHECK(near_misses(std::string(10'000'000, 'x'), kDevices).empty());
}
