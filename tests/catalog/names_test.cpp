// SPDX-License-Identifier: Apache-2.0
#include "catalog/names.h"

#include <doctest/doctest.h>

#include "error.h"

using namespace kvplan;

TEST_CASE("case, spaces, dashes, parentheses and the vendor do not matter in a name") {
  const std::string same = normalized("rtx-4090");
  for (const char* name : {"RTX 4090", "rtx4090", "NVIDIA GeForce RTX 4090", "(RTX_4090)"})
    CHECK(normalized(name) == same);
  CHECK(normalized("NVIDIA H100 80GB HBM3") == normalized("h100-80gb-hbm3"));
  CHECK(normalized("Apple M4 Max (40-core GPU)") == normalized("m4-max-40-core"));
}

TEST_CASE("a colon parts a name from its size, as Ollama writes it") {
  CHECK(normalized("llama3.1:8b") == normalized("llama-3.1-8b"));
}

TEST_CASE("dots, slashes and numbers tell names apart") {
  CHECK(normalized("qwen2.5-7b") != normalized("qwen25-7b"));
  CHECK(normalized("nvidia/llama") != normalized("llama"));
  CHECK(normalized("rtx-4080") != normalized("rtx-4090"));
}

TEST_CASE("a name that is nothing but a vendor is still a name") {
  CHECK(normalized("NVIDIA") == "nvidia");
  CHECK(normalized(" - ").empty());
}

TEST_CASE("a count goes before a name with an x between") {
  for (const std::string typed :
       {"8xh100-sxm", "8 x h100-sxm", "8X h100-sxm", "8\u00d7h100-sxm", " 8x h100-sxm"}) {
    CAPTURE(typed);
    CHECK(counted(typed).count == 8);
    CHECK(counted(typed).name == "h100-sxm");
  }
}

TEST_CASE("a count goes behind a name with a space, a sign and no more") {
  for (const std::string typed :
       {"RTX 3090 x2", "RTX 3090 x 2", "RTX 3090 * 2", "RTX 3090 \u00d72"}) {
    CAPTURE(typed);
    CHECK(counted(typed).count == 2);
    CHECK(counted(typed).name == "RTX 3090");
  }
  CHECK(counted("3090 x2").name == "3090");
  CHECK(counted("dual EPYC 9654").count == 2);
  CHECK(counted("dual channel DDR5-6000").count == 1);
  CHECK(counted("rtx-3090x2").count == 1);
  CHECK(counted("RTX 3090 x0").count == 1);
  CHECK(counted("RTX 3090 x65").count == 1);
}

TEST_CASE("a name without a count stands for one") {
  for (const std::string typed : {"h100-sxm", "xeon-6980p", "4090", "8x", "x8", "7900 xtx",
                                  "7900xtx", "9070 XT", "99999999999999999999xh100"}) {
    CAPTURE(typed);
    CHECK(counted(typed).count == 1);
    CHECK(counted(typed).name == typed);
  }
}

TEST_CASE("no devices at all are refused") {
  CHECK_THROWS_AS(counted("0xh100-sxm"), Error);
  CHECK_THROWS_AS(counted("0 x h100-sxm"), Error);
}

TEST_CASE("a remark in parentheses can be left out") {
  CHECK(without_remark("A100 80GB (form factor not stated)") == "A100 80GB");
  CHECK(without_remark("h100") == "h100");
  CHECK(without_remark("h100 (open") == "h100");
}

TEST_CASE("a file is found under its name, aliases, families and memory sizes") {
  const auto names = names_in(
      parse_yaml("name: m4-max-40c\naliases: [M4 Max 40-core]\nfamilies: [M4 Max]\n"
                 "memory: {marketed: 128 GiB, sizes: [{marketed: 64 GiB, visible: 48 GiB}]}\n"));
  REQUIRE(names.size() == 6);
  CHECK(names[0].use == IndexedName::name);
  CHECK(names[2].use == IndexedName::family);
  CHECK(names[3].key == normalized("m4-max-40c-64gb"));
  CHECK(names[3].marketed == "64 GiB");
  CHECK(names[5].key == normalized("M4 Max 64GB"));
  CHECK(names[5].use == IndexedName::family);
  CHECK_THROWS_AS(names_in(parse_yaml("aliases: [a]\n")), Error);
}
