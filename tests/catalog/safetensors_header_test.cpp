// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/header.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "catalog/safetensors_writer.h"
#include "error.h"

using namespace kvplan;
using testing::SafetensorsWriter;

namespace {

std::vector<safetensors::StoredTensor> parse(const std::string& bytes) {
  std::istringstream in(bytes);
  return safetensors::parse_header(in);
}

std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const Error& e) {
    CAPTURE(e.what());
    CHECK(e.offset >= 0);
    CHECK(e.offset <= static_cast<std::int64_t>(bytes.size()));
    return e.what();
  }
  return "none";
}

// A header of this text before `data` bytes.
std::string file(const std::string& json, std::size_t data = 0) {
  return SafetensorsWriter::head_of(json) + std::string(data, '\0');
}

}  // namespace

TEST_CASE("every data type takes its bits") {
  struct Case {
    const char* name;
    int bits;
  };
  const Case cases[] = {{"F64", 64}, {"F32", 32},    {"F16", 16},    {"BF16", 16},   {"F8_E4M3", 8},
                        {"I64", 64}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6},
                        {"F4", 4},   {"U64", 64},    {"I32", 32},    {"U32", 32},    {"I16", 16},
                        {"U16", 16}, {"I8", 8},      {"U8", 8},      {"BOOL", 8},    {"C64", 64}};
  SafetensorsWriter w;
  for (const Case& c : cases) w.tensor(c.name, c.name, c.bits, {4, 8});
  const auto tensors = parse(w.file());
  REQUIRE(tensors.size() == std::size(cases));
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(cases[i].name);
    CHECK(tensors[i].bytes.n == 32 * cases[i].bits / 8);
    const Format* format = find_format(tensors[i].dtype->format);
    REQUIRE(format);
    CHECK(payload_bytes(*format, 4, 8).n == tensors[i].bytes.n);
    sum += tensors[i].bytes.n;
  }
  CHECK(sum == static_cast<std::int64_t>(w.data_bytes()));
}

TEST_CASE("scalars, empty tensors and escaped names are read") {
  SafetensorsWriter w;
  w.f32("a", {}).f32("b", {0, 4}).f32("c", {2});
  const auto tensors = parse(w.file());
  CHECK(tensors[0].elements == 1);
  CHECK(tensors[1].elements == 0);
  CHECK(tensors[2].bytes.n == 8);
  CHECK(parse(file(R"({"é\"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1))[0].name ==
        "\xc3\xa9\"");
  CHECK(parse(file("{}")).empty());
}

TEST_CASE("a header cut anywhere is refused") {
  SafetensorsWriter w;
  w.f32("a", {2}).bf16("b", {3, 4});
  const std::string whole = w.file();
  CHECK_NOTHROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(refusal(whole.substr(0, size)) != "none");
  }
  CHECK(refusal(whole + "x") == "data that belong to no tensor");
}

TEST_CASE("contradictions are refused by what they are") {
  const auto one = [](const std::string& body, std::size_t data = 4) {
    return refusal(file("{\"a\":{" + body + "}}", data));
  };
  const std::string type = R"("dtype":"F32",)", shape = R"("shape":[1],)",
                    offsets = R"("data_offsets":[0,4])";
  CHECK(one(type + shape + offsets) == "none");
  CHECK(one(shape + offsets) != "none");
  CHECK(one(type + offsets) != "none");
  CHECK(one(type + R"("shape":[1])") != "none");
  CHECK(one(R"("dtype":"F33",)" + shape + offsets).find("'F33'") != std::string::npos);
  CHECK(one(type + R"("shape":[2],)" + offsets).find("do not fit") != std::string::npos);
  CHECK(one(type + R"("shape":[9223372036854775808,2],)" + offsets).find("dimension") !=
        std::string::npos);
  CHECK(one(type + R"("shape":[4294967296,4294967296],)" + offsets).find("dimension") !=
        std::string::npos);
  CHECK(one(type + R"("shape":[-1],)" + offsets) != "none");
  CHECK(one(type + R"("shape":[1.0],)" + offsets) != "none");
  CHECK(one(type + R"("shape":[1,1,1,1,1,1,1,1,1],)" + offsets) != "none");
  CHECK(one(type + shape + R"("data_offsets":[4,0])") != "none");
  CHECK(one(type + shape + R"("data_offsets":[4,8])", 8).find("hole") != std::string::npos);
  CHECK(one(type + shape + R"("data_offsets":[18446744073709551612,18446744073709551615])") !=
        "none");
  CHECK(one(type + shape + offsets, 3).find("beyond the end") != std::string::npos);
  CHECK(one(type + shape + offsets, 5) == "data that belong to no tensor");
  CHECK(refusal(file(R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,0]}})"))
            .find("end at a byte") != std::string::npos);

  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  CHECK(refusal(file("{" + a + "," + a + "}", 2)).find("stands twice") != std::string::npos);
  CHECK(refusal(file("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3))
            .find("overlap") != std::string::npos);
}

TEST_CASE("headers of the wrong shape, too deep or too long are refused at once") {
  for (const std::string json :
       {"", "[]", "5", "\"a\"", "null", "{\"a\":1}", "{\"a\":[]}", "{\"a\":{\"dtype\":{}}}",
        "{\"a\":{\"shape\":[[1]]}}", "{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":\"a\"}",
        "{\"__metadata__\":{\"a\":{}}}", "{\"__metadata__\":{\"shape\":[1]}}", "{} {}"})
    CHECK_MESSAGE(refusal(file(json)) != "none", json);
  CHECK(refusal(file(std::string(100'000, '['))) != "none");
  std::string huge = file("{}");
  huge[7] = '\x40';  // 2^62 bytes of header
  CHECK(refusal(huge).find("claims a header") != std::string::npos);
  try {
    parse(file("{\"a\": x}"));
    FAIL("the header is broken");
  } catch (const Error& e) {
    CHECK(e.offset >= 8 + 6);
    CHECK(e.offset <= 8 + 8);
  }
}

TEST_CASE("a fault is placed at the byte where the header says it") {
  const std::string a = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const auto place = [](const std::string& bytes) {
    try {
      parse(bytes);
    } catch (const Error& e) {
      return e.offset;
    }
    return std::int64_t{-1};
  };
  // 8 bytes of length, then the text up to the end of "F33".
  const std::string odd = R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,1]}})";
  CHECK(place(file(odd, 1)) == 8 + static_cast<std::int64_t>(odd.find("\",\"shape") + 1));
  // A name that stands twice: where the second is described.
  CHECK(place(file("{" + a + "," + a + "}", 2)) >= 8 + static_cast<std::int64_t>(a.size() + 2));
}
