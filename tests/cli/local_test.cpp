// SPDX-License-Identifier: Apache-2.0
#include "cli/local.h"

#include <doctest/doctest.h>

using namespace kvplan;

TEST_CASE("a part is known by the words of its name in what the system says") {
  const Catalog catalog;
  REQUIRE(part_named_in(catalog, "AMD EPYC 9654 96-Core Processor"));
  CHECK(part_named_in(catalog, "AMD EPYC 9654 96-Core Processor")->name == "epyc-9654");
  CHECK(part_named_in(catalog, "Intel(R) Xeon(R) Platinum 8480+")->name == "xeon-8480+");
  CHECK(!part_named_in(catalog, "AMD EPYC"));
  CHECK(!part_named_in(catalog, "2 x AMD EPYC 9654 96-Core Processor"));
}

TEST_CASE("this machine has its own memory and the peaks of its part, or none") {
  const Catalog catalog;
  DeviceSpec probed;
  probed.name = "amd-epyc-9654-96-core-processor";
  probed.title = "AMD EPYC 9654 96-Core Processor";
  probed.memory = {Bytes(64 * kGiB), "probed"};
  const DeviceSpec known = with_datasheet(probed, part_named_in(catalog, probed.title));
  CHECK(known.memory.value == Bytes(64 * kGiB));
  CHECK(known.name == probed.name);
  CHECK(known.bandwidth.value.v == doctest::Approx(460.8e9));  // 12 channels x 4800 MT/s x 8 bytes
  CHECK(with_datasheet(probed, std::nullopt).bandwidth.value == BytesPerSecond(0));
}

TEST_CASE("local is a device under any spelling, and has a name and memory") {
  CHECK(is_local("local"));
  CHECK(is_local("Local"));
  CHECK(!is_local("local-gpu"));
  const DeviceSpec here = device_named(Catalog(), "local");
  CHECK(!here.title.empty());
  CHECK(here.memory.value > Bytes(0));
}
