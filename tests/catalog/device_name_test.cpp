// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_spelling.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/logged_shape.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

const Catalog& catalog() {
  static const Catalog shared;
  return shared;
}

std::vector<std::string> texts_at(const Node& row, const char* key) {
  std::vector<std::string> all;
  if (const Node* list = row.find(key))
    for (const Node& item : list->items) all.push_back(item.text);
  return all;
}

}  // namespace

TEST_CASE("a device is found however public benchmark posts write it") {
  std::size_t spellings = 0;
  for (const Node& row : truth_rows("device_names.yaml"))
    for (const char* key : {"exactly", "fastest"})
      for (const std::string& typed : texts_at(row, key)) {
        CAPTURE(typed);
        std::string note;
        CHECK(catalog().device(counted(typed).name, &note).name == text_at(row, "part"));
        CHECK(note.empty() == (std::string(key) == "exactly"));
        ++spellings;
      }
  CHECK(spellings >= 150);
}

TEST_CASE("a part that does not exist is refused with the nearest that does") {
  for (const auto& names : {std::pair{"RTX 4090 Ti", "rtx-4090"},
                            {"RTX 3060 24GB", "rtx-3060-12gb"},
                            {"H100 Super", "h100-sxm"},
                            {"M1 Max 28-core", "m1-max-32c"},
                            {"RTX 4095", "rtx-4090"}}) {
    CAPTURE(names.first);
    try {
      catalog().device(names.first);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.advice.find(names.second) != std::string::npos);
    }
  }
}

TEST_CASE("a processor has the memory that is typed with it") {
  const DeviceSpec stock = catalog().device("i9-14900K"),
                   fast = catalog().device("i9-14900K, dual-channel DDR5-7200"),
                   one = catalog().device("i9-14900K DDR5-6000 single channel 64GB");
  CHECK(stock.bandwidth.value.v == doctest::Approx(2 * 5600e6 * 8));
  CHECK(fast.bandwidth.value.v == doctest::Approx(2 * 7200e6 * 8));
  CHECK(one.bandwidth.value.v == doctest::Approx(6000e6 * 8));
  CHECK(one.memory.value == Bytes(64 * kGiB));
  CHECK(catalog().device("EPYC 9654 8-channel DDR5-4800").bandwidth.value.v ==
        doctest::Approx(8 * 4800e6 * 8));
  CHECK(catalog().device("DDR5-8000 dual channel").bandwidth.value.v ==
        doctest::Approx(2 * 8000e6 * 8));
}

TEST_CASE("modules alone are a computer of their own rate, channels and size") {
  std::string note;
  const DeviceSpec server = catalog().device("8-channel ddr5-4800 256gb", &note);
  CHECK(note.empty());
  CHECK(server.title == "8 channels of DDR5-4800, 256 GiB");
  CHECK(server.bandwidth.value.v == doctest::Approx(8 * 4800e6 * 8));
  CHECK(server.memory.value == Bytes(256 * kGiB));
  CHECK(catalog().device("single-channel LPDDR5-4800 16GB").bandwidth.value.v ==
        doctest::Approx(4800e6 * 8));
  CHECK(catalog().device("DDR4-3200 32GB", &note).title == "2 channels of DDR4-3200, 32 GiB");
  CHECK(note.find("say how many channels") != std::string::npos);
  CHECK(catalog().device("desktop-ddr5-5600", &note).name == "desktop-ddr5-5600");
}

TEST_CASE("what a typed name says is told apart") {
  const TypedDevice mac = typed_device("MacBook Pro (M4 Max, 16-core CPU, 40-core GPU) 64 GB");
  CHECK(mac.words == std::vector<std::string>{"macbookpro", "m4", "max"});
  CHECK(mac.cores == "40core");
  CHECK(mac.size == "64gb");
  const TypedDevice card = typed_device("NVIDIA GeForce RTX 4090 GPU, 24G");
  CHECK(card.words == std::vector<std::string>{"rtx", "4090"});
  CHECK(card.cores.empty());
  CHECK(card.size == "24gb");
  CHECK(typed_device("M1 7\u2011Core GPU").cores == "7core");
  const TypedDevice cpu = typed_device("Ryzen 9 7950X, 4 x 32 GB DDR5-5200 MT/s quad channel");
  REQUIRE(cpu.kit.has_value());
  CHECK(cpu.kit->rate == 5200);
  CHECK(cpu.kit->channels == 4);
}

TEST_CASE("a name of any length is looked up in bounded time") {
  std::string words;
  for (int i = 0; i < 40; ++i) words += "rtx 4090 ";
  CHECK(spellings(typed_device(words)).size() < 1000);
  CHECK_THROWS_AS(catalog().device(words + words), Error);
  CHECK_THROWS_AS(catalog().device("\xff\xfe\xe2\x80"), Error);
}
