// SPDX-License-Identifier: Apache-2.0
#include "model/format.h"

#include <doctest/doctest.h>

using namespace kvplan;

TEST_CASE("int4 is exactly half a byte and int4-g128 has its scales") {
  CHECK(stored_bytes(format_named("int4"), 4096, 4096) == Bytes(4096 * 4096 / 2));
  // 32 groups of 128 per row, two bytes of scale each.
  CHECK(stored_bytes(format_named("int4-g128"), 4096, 4096) == Bytes(4096 * (2048 + 32 * 2)));
}

TEST_CASE("GGUF rows take whole blocks") {
  CHECK(stored_bytes(format_named("q8_0"), 1, 4096) == Bytes(4096 / 32 * 34));
  CHECK(stored_bytes(format_named("q8_0"), 1, 33) == Bytes(2 * 34));
}

TEST_CASE("fp8 tiles count partly filled tiles in both dimensions") {
  CHECK(scale_bytes(format_named("fp8-block128"), 129, 257) == Bytes(2 * 3 * 4));
}
