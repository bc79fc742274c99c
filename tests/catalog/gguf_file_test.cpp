// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/file.h"

#include <doctest/doctest.h>

#include <functional>
#include <sstream>
#include <string>

#include "catalog/gguf/types.h"
#include "catalog/gguf_writer.h"
#include "error.h"

using namespace kvplan;
using testing::GgufWriter;

namespace {

GgufFile parse(const std::string& bytes) {
  std::istringstream in(bytes);
  return parse_gguf(in);
}

Error error_of(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const Error& e) {
    return e;
  }
  return Error("none");
}

struct BlockType {
  std::uint32_t id;
  const char* name;
  std::uint64_t elements, bytes;
};
// ggml.h's numbers; bytes from the fields of ggml-common.h's block structs, as written there:
// h = 2-byte half, the rest packed bits.
const BlockType kTypes[] = {
    {0, "fp32", 1, 4},
    {1, "fp16", 1, 2},
    {2, "q4_0", 32, 2 + 16},
    {3, "q4_1", 32, 2 + 2 + 16},
    {6, "q5_0", 32, 2 + 4 + 16},
    {7, "q5_1", 32, 2 + 2 + 4 + 16},
    {8, "q8_0", 32, 2 + 32},
    {9, "q8_1", 32, 2 + 2 + 32},
    {10, "q2_k", 256, 2 + 2 + 16 + 64},
    {11, "q3_k", 256, 2 + 64 + 32 + 12},
    {12, "q4_k", 256, 2 + 2 + 128 + 12},
    {13, "q5_k", 256, 2 + 2 + 128 + 32 + 12},
    {14, "q6_k", 256, 2 + 128 + 64 + 16},
    {15, "q8_k", 256, 4 + 256 + 32},
    {16, "iq2_xxs", 256, 2 + 64},
    {17, "iq2_xs", 256, 2 + 64 + 8},
    {18, "iq3_xxs", 256, 2 + 64 + 32},
    {19, "iq1_s", 256, 2 + 32 + 16},
    {20, "iq4_nl", 32, 2 + 16},
    {21, "iq3_s", 256, 2 + 64 + 8 + 32 + 4},
    {22, "iq2_s", 256, 2 + 64 + 8 + 8},
    {23, "iq4_xs", 256, 2 + 2 + 128 + 4},
    {24, "int8", 1, 1},
    {25, "int16", 1, 2},
    {26, "int32", 1, 4},
    {27, "int64", 1, 8},
    {28, "fp64", 1, 8},
    {29, "iq1_m", 256, 32 + 16 + 8},
    {30, "bf16", 1, 2},
    {34, "tq1_0", 256, 2 + 4 + 48},
    {35, "tq2_0", 256, 2 + 64},
    {39, "mxfp4", 32, 1 + 16},
    {40, "nvfp4-unscaled", 64, 4 + 32},
    {41, "q1_0", 128, 2 + 16},
    {42, "q2_0", 64, 2 + 16},
};

}  // namespace

TEST_CASE("a tensor of every ggml type takes exactly the bytes that ggml stores") {
  GgufWriter writer;
  std::uint64_t payload = 0;
  for (const BlockType& t : kTypes) {
    const std::uint64_t bytes = 3 * 512 / t.elements * t.bytes;
    writer.tensor(t.name, {512, 3}, t.id, bytes);
    payload += bytes;
  }
  const GgufFile file = parse(writer.file());
  REQUIRE(file.tensors.size() == std::size(kTypes));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    CAPTURE(kTypes[i].name);
    CHECK(file.tensors[i].format->name == kTypes[i].name);
    CHECK(file.tensors[i].bytes.n ==
          static_cast<std::int64_t>(3 * 512 / kTypes[i].elements * kTypes[i].bytes));
    CHECK(file.tensors[i].stored_elements == 3 * 512);
    CHECK(file.tensors[i].shape == std::vector<std::int64_t>{3, 512});
    sum += static_cast<std::uint64_t>(file.tensors[i].bytes.n);
  }
  CHECK(sum == payload);
}

TEST_CASE("every number in the table of ggml types names a known format") {
  for (const GgmlType& type : ggml_types()) {
    CAPTURE(type.format);
    CHECK(ggml_format(type.id) != nullptr);
  }
  CHECK(ggml_format(4) == nullptr);  // q4_2, gone since 2023
}

TEST_CASE("versions 2 and 3 in both byte orders read alike") {
  for (const std::uint32_t version : {2u, 3u})
    for (const bool big : {false, true}) {
      GgufWriter writer(version, big);
      writer.text("general.architecture", "llama").u32("llama.block_count", 32);
      writer.i32s("llama.attention.head_count_kv", {8, 0, 8}).f32("llama.rope.freq_base", 500000);
      writer.tensor("blk.0.attn_q.weight", {256, 16}, 12, 16 * 144);
      const GgufFile file = parse(writer.file());
      CHECK(file.version == version);
      CHECK(file.big_endian == big);
      CHECK(file.metadata.find("general.architecture")->string() == "llama");
      CHECK(file.metadata.find("llama.block_count")->integer() == 32);
      CHECK(file.metadata.find("llama.attention.head_count_kv")->items[1].integer() == 0);
      CHECK(file.metadata.find("llama.rope.freq_base")->number() == 500000);
      CHECK(file.tensors.at(0).bytes.n == 16 * 144);
    }
}

TEST_CASE("vocabularies and long texts are passed over, the size of the vocabulary is kept") {
  GgufWriter writer;
  writer.texts("tokenizer.ggml.tokens", 1000, "token");
  writer.text("tokenizer.chat_template", std::string(100'000, 'x'));
  writer.text("general.description", std::string(100'000, 'x'));
  writer.i32s("tokenizer.ggml.token_type", std::vector<std::int32_t>(1000, 1));
  writer.u32("llama.block_count", 7);
  const GgufFile file = parse(writer.file());
  CHECK(file.vocabulary == 1000);
  REQUIRE(file.metadata.members.size() == 1);
  CHECK(file.metadata.find("llama.block_count")->integer() == 7);
}

TEST_CASE("a value beyond 63 bits is kept as it stands and refused as a number") {
  const GgufFile file =
      parse(GgufWriter().u64("llama.block_count", ~std::uint64_t{0} / 2 + 1).file());
  CHECK(file.metadata.find("llama.block_count")->text == "9223372036854775808");
  CHECK_THROWS_AS((void)file.metadata.find("llama.block_count")->integer(), Error);
}

TEST_CASE("a file cut anywhere is an error with an offset inside the file") {
  GgufWriter writer;
  writer.text("general.architecture", "llama").u32("llama.block_count", 2);
  writer.texts("tokenizer.ggml.tokens", 3, "abc").i32s("llama.attention.head_count_kv", {1, 2});
  writer.tensor("token_embd.weight", {32, 4}, 8, 4 * 34);
  const std::string whole = writer.file();
  CHECK_NOTHROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error e = error_of(whole.substr(0, size));
    CAPTURE(size);
    CHECK(std::string(e.what()) != "none");
    CHECK(e.offset >= 0);
    CHECK(e.offset <= static_cast<std::int64_t>(size));
  }
}

TEST_CASE("contradictions are refused by what they are") {
  const std::uint64_t huge = ~std::uint64_t{0};
  struct Case {
    const char* what;
    GgufWriter writer;
  };
  const Case cases[] = {
      {"stands twice", GgufWriter().u32("a", 1).u32("a", 2)},
      {"stands twice", GgufWriter().tensor("t", {4}, 0, 16).tensor("t", {4}, 0, 16)},
      {"overlap", GgufWriter().tensor("t", {16}, 0, 64).tensor_at("u", {16}, 0, 64, 32)},
      {"beyond the end", GgufWriter().tensor_at("t", {16}, 0, 8, 0)},
      {"beyond the end", GgufWriter().tensor_at("t", {16}, 0, 0, std::uint64_t{1} << 62)},
      {"alignment", GgufWriter().tensor_at("t", {16}, 0, 64, 8)},
      {"an alignment of '0'", GgufWriter().u32("general.alignment", 0)},
      {"an alignment of '48'", GgufWriter().u32("general.alignment", 48)},
      {"dimension of 0", GgufWriter().tensor("t", {0}, 0, 0)},
      {"tensor dimension of", GgufWriter().tensor("t", {huge}, 0, 0)},
      {"tensor dimension of", GgufWriter().tensor("t", {1u << 31, 1u << 31}, 0, 0)},
      {"5 dimensions", GgufWriter().tensor("t", {1, 1, 1, 1, 1}, 0, 4)},
      {"0 dimensions", GgufWriter().tensor("t", {}, 0, 4)},
      {"type 99", GgufWriter().tensor("t", {4}, 99, 16)},
      {"do not fill blocks", GgufWriter().tensor("t", {33, 2}, 8, 68)},
      {"array of arrays", GgufWriter().raw("a", 9, std::string("\x09\0\0\0", 4))},
      {"unknown value type 13", GgufWriter().raw("a", 13, "")},
      {"without a usable name", GgufWriter().tensor("", {4}, 0, 16)},
  };
  for (const Case& c : cases) {
    const Error e = error_of(c.writer.file());
    CAPTURE(e.what());
    CHECK(std::string(e.what()).find(c.what) != std::string::npos);
    CHECK(e.offset >= 0);
  }
}

TEST_CASE("counts, lengths and versions that the file cannot hold are refused at once") {
  const std::string good = GgufWriter().u32("a", 1).file();
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
    std::string file = good;
    for (std::size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
    return error_of(file);
  };
  const std::uint64_t huge = std::uint64_t{1} << 63;
  CHECK(with(4, 1, 4).offset == 4);       // version 1
  CHECK(with(4, 4, 4).offset == 4);       // a version to come
  CHECK(with(8, huge, 8).offset == 8);    // tensors
  CHECK(with(16, huge, 8).offset == 16);  // keys
  CHECK(with(24, huge, 8).offset == 32);  // length of the first key
  CHECK(error_of("not a GGUF file at all").offset == 0);
  CHECK(error_of("").offset == 0);
}
