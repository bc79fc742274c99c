// SPDX-License-Identifier: Apache-2.0
#include "model/format.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace kvplan;

TEST_CASE("int4 is exactly half a byte and int4-g128 has its scales") {
  CHECK(stored_bytes(format_named("int4"), 4096, 4096) == Bytes(4096 * 4096 / 2));
  // 32 groups of 128 per row, two bytes of scale each.
  CHECK(stored_bytes(format_named("int4-g128"), 4096, 4096) == Bytes(4096 * (2048 + 32 * 2)));
}

TEST_CASE("AWQ and GPTQ groups add a packed zero point to each scale") {
  // qzeros is int32 [groups][outputs / 8]: half a byte per group and output.
  CHECK(stored_bytes(format_named("awq"), 4096, 4096) ==
        Bytes(4096 * 2048 + 32 * 4096 * 2 + 32 * 4096 / 2));
  CHECK(format_named("gptq") == format_named("awq"));
}

TEST_CASE("rows of blocks take whole blocks") {
  CHECK(stored_bytes(format_named("q8_0"), 1, 4096) == Bytes(4096 / 32 * 34));
  CHECK(stored_bytes(format_named("q8_0"), 1, 33) == Bytes(2 * 34));
}

TEST_CASE("fp8 tiles count partly filled tiles in both dimensions") {
  CHECK(scale_bytes(format_named("fp8-block128"), 129, 257) == Bytes(2 * 3 * 4));
  CHECK(scale_bytes(format_named("fp8-channel"), 129, 257) == Bytes(129 * 4));
  CHECK(scale_bytes(format_named("fp8-tensor"), 129, 257) == Bytes(4));
}

TEST_CASE("GGUF blocks have ggml's sizes") {
  // Bits per weight as llama.cpp's own documentation of quantize states them.
  const auto bits = [](const char* name) {
    const Format& f = format_named(name);
    return 8.0 * f.block_bytes / f.block_elements;
  };
  CHECK(bits("q2_k") == 2.625);
  CHECK(bits("q3_k") == 3.4375);
  CHECK(bits("q4_k") == 4.5);
  CHECK(bits("q5_k") == 5.5);
  CHECK(bits("q6_k") == 6.5625);
  CHECK(bits("q8_0") == 8.5);
  CHECK(bits("q4_0") == 4.5);
  CHECK(bits("q4_1") == 5.0);
  CHECK(bits("q5_0") == 5.5);
  CHECK(bits("q5_1") == 6.0);
  CHECK(bits("iq1_s") == 1.5625);
  CHECK(bits("iq1_m") == 1.75);
  CHECK(bits("iq2_xxs") == 2.0625);
  CHECK(bits("iq2_xs") == 2.3125);
  CHECK(bits("iq2_s") == 2.5625);
  CHECK(bits("iq3_xxs") == 3.0625);
  CHECK(bits("iq3_s") == 3.4375);
  CHECK(bits("iq4_xs") == 4.25);
  CHECK(bits("iq4_nl") == 4.5);
  CHECK(bits("tq1_0") == 1.6875);
  CHECK(bits("tq2_0") == 2.0625);
  CHECK(bits("mxfp4") == 4.25);
  CHECK(bits("nvfp4") == 4.5);
}

TEST_CASE("NVFP4 has one fp8 scale per 16 numbers and one fp32 scale per matrix") {
  CHECK(stored_bytes(format_named("nvfp4"), 128, 4096) == Bytes(128 * (2048 + 256) + 4));
}

TEST_CASE("cache rows carry their scales per head") {
  // vLLM's rows: width + 4 for K and for V; int4 width / 2 + 4; nvfp4 width / 2 + width / 16.
  CHECK(cache_row_bytes(format_named("int8_per_token_head"), 8, 128) == Bytes(8 * 132));
  CHECK(cache_row_bytes(format_named("fp8_per_token_head"), 8, 128) == Bytes(8 * 132));
  CHECK(cache_row_bytes(format_named("int4_per_token_head"), 8, 128) == Bytes(8 * 68));
  CHECK(cache_row_bytes(format_named("nvfp4"), 8, 128) == Bytes(8 * (64 + 8)));
  CHECK(cache_row_bytes(format_named("q8_0"), 8, 128) == Bytes(8 * 136));
  CHECK(cache_row_bytes(format_named("q5_1"), 8, 128) == Bytes(8 * 96));
}

TEST_CASE("formats answer to their usual spellings") {
  for (const char* name : {"float16", "half", "F16", "fp16", "FP-16"})
    CHECK(format_named(name).name == "fp16");
  for (const char* name : {"Q8_0", "q8-0", "q8_0"}) CHECK(format_named(name).name == "q8_0");
  for (const char* name : {"e4m3", "fp8_e4m3", "float8_e4m3fn", "FP8"})
    CHECK(format_named(name).name == "fp8");
  CHECK(format_named("bfloat16").name == "bf16");
  CHECK(format_named("fp8_e5m2").name == "fp8-e5m2");
}

TEST_CASE("an unknown format is refused with the names that are near") {
  try {
    format_named("q4_q");
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("q4_q") != std::string::npos);
    CHECK(error.advice.find("q4_k") != std::string::npos);
  }
  CHECK(find_format("") == nullptr);
}

TEST_CASE("no two formats share a name, and none is smaller than its payload") {
  std::set<std::string_view> names;
  for (const Format& f : formats()) {
    CHECK(names.insert(f.name).second);
    CHECK(find_format(f.name) == &f);
    CHECK(8.0 * f.block_bytes >= f.bits * f.block_elements);
  }
}
