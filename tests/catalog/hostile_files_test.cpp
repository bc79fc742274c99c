// SPDX-License-Identifier: Apache-2.0
// Paths and files that are not what they seem: none may hang, crash or take memory.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "catalog/gguf.h"
#include "catalog/gguf_writer.h"
#include "catalog/model_file.h"
#include "catalog/safetensors.h"
#include "catalog/safetensors_writer.h"
#include "catalog/scratch.h"

using namespace kvplan;
using testing::GgufWriter;
using testing::SafetensorsWriter;
using testing::Scratch;
namespace fs = std::filesystem;

namespace {

std::string refusal(const std::string& path) {
  try {
    (void)read_model_at(path);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

GgufWriter small() {
  GgufWriter w;
  w.text("general.architecture", "llama").u32("llama.block_count", 1);
  w.u32("llama.embedding_length", 64).u32("llama.attention.head_count", 4);
  return w.tensor("token_embd.weight", {64, 10}, 1, 64 * 10 * 2), w;
}

}  // namespace

TEST_CASE("pipes and devices under a model's name are refused without waiting for them") {
  const Scratch scratch;
  for (const char* name : {"x.gguf", "x.safetensors", "x.safetensors.index.json", "x.json"}) {
    const std::string pipe = scratch.path(name);
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(refusal(pipe) == "this is no ordinary file");
    const std::string zeros = scratch.path(std::string("zeros-") + name);
    fs::create_symlink("/dev/zero", zeros);
    CHECK(refusal(zeros) == "this is no ordinary file");
  }
}

TEST_CASE("links in a ring and folders under a file's name are refused") {
  const Scratch scratch;
  fs::create_symlink(scratch.path("b.gguf"), scratch.path("a.gguf"));
  fs::create_symlink(scratch.path("a.gguf"), scratch.path("b.gguf"));
  CHECK(refusal(scratch.path("a.gguf")) != "none");
  fs::create_directory(scratch.path("folder.gguf"));
  CHECK(refusal(scratch.path("folder.gguf")).find("this folder holds no") == 0);
  fs::create_symlink(scratch.path("gone"), scratch.path("dangling.gguf"));
  CHECK(refusal(scratch.path("dangling.gguf")) == "there is no such file");
}

TEST_CASE("a ring in place of a shard is a shard that is missing") {
  const Scratch scratch;
  scratch.write("config.json", R"({"model_type": "llama", "hidden_size": 64, "vocab_size": 100,
      "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 96})");
  scratch.write("model-00001-of-00002.safetensors", SafetensorsWriter().f8("a", {4}).file());
  const std::string second = scratch.path("model-00002-of-00002.safetensors");
  fs::create_symlink(second, second);
  const ModelSpec model = read_model_at(scratch.folder());
  REQUIRE(model.warnings.size() == 1);
  CHECK(model.warnings[0].code == "missing-shards");
}

TEST_CASE("a ring or a pipe beside a configuration is no part of it") {
  const Scratch scratch;
  const std::string config = scratch.write("config.json", R"({"model_type": "llama",
      "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 1, "num_attention_heads": 4,
      "intermediate_size": 96})");
  const std::string beside = scratch.path("hf_quant_config.json");
  fs::create_symlink(beside, beside);
  CHECK(refusal(config) == "none");
  fs::remove(beside);
  REQUIRE(mkfifo(beside.c_str(), 0600) == 0);
  CHECK(refusal(config) == "this is no ordinary file");
}

TEST_CASE("what often lies in a file's place is called by its name") {
  const Scratch scratch;
  for (const char* name : {"m.gguf", "m.safetensors"}) {
    const std::string lfs = scratch.write(
        name, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4920734272\n");
    CHECK(refusal(lfs).find("Git LFS") != std::string::npos);
    CHECK(refusal(scratch.write(name, "<!DOCTYPE html><title>Sign in</title>")).find("web page") !=
          std::string::npos);
  }
  CHECK(refusal(scratch.write("m.gguf", "tjgg\1\0\0\0")).find("older") != std::string::npos);
  CHECK(refusal(scratch.write("m.gguf", GgufWriter(1).file())).find("version 1") !=
        std::string::npos);
}

TEST_CASE("a file of a tebibyte is read by its header alone") {
  const Scratch scratch;
  const std::string gguf = scratch.write("sparse.gguf", small().file());
  std::error_code refused;
  fs::resize_file(gguf, std::uintmax_t{1} << 40, refused);
  if (refused) return;  // a file system without sparse files
  CHECK(refusal(gguf) == "none");
  const std::string tensors = scratch.write("model.safetensors", SafetensorsWriter().file());
  fs::resize_file(tensors, std::uintmax_t{1} << 40, refused);
  CHECK_THROWS_AS(read_safetensors_tensors(tensors), Error);  // data that belong to no tensor
}

TEST_CASE("100,000 tensors are read in bounded time, one more is refused") {
  const Scratch scratch;
  GgufWriter writer = small();
  std::string name = "blk.0.unheard.000000.weight";
  for (int i = 1; i < 100'000; ++i) {
    const std::string digits = std::to_string(i);
    name.replace(20 - digits.size(), digits.size(), digits);
    writer.tensor(name, {1}, 0, 4);
  }
  const std::string path = scratch.write("many.gguf", writer.file());
  CHECK(read_gguf_tensors(path).tensors.size() == 100'000);
  writer.tensor("one.more", {1}, 0, 4);
  CHECK_THROWS_AS(read_gguf_tensors(scratch.write("more.gguf", writer.file())), Error);
}

// Each was compared with all before it: four and a half minutes for 99,000.
TEST_CASE("more different tensors than any layer has are refused before they are compared") {
  const Scratch scratch;
  GgufWriter writer = small();
  for (int i = 1; i <= 10'001; ++i)
    writer.tensor("blk.0.x" + std::to_string(i), {static_cast<std::uint64_t>(i)}, 0,
                  static_cast<std::uint64_t>(i) * 4);
  const std::string path = scratch.write("m.gguf", writer.head(), writer.data_bytes());
  CHECK(refusal(path).find("10,000 different tensors") != std::string::npos);
  CHECK(read_gguf_tensors(path).tensors.size() == 10'002);
}

// A few hundred kilobytes of keys, and holes for their values, stood for gigabytes of memory.
TEST_CASE("many long arrays of numbers are refused before they are kept") {
  const Scratch scratch;
  GgufWriter writer = small();
  const std::vector<std::int32_t> zeros(10'000);
  for (int i = 0; i < 20; ++i) writer.i32s("llama.list" + std::to_string(i), zeros);
  CHECK(refusal(scratch.write("kept.gguf", writer.file())).find("claims an array") ==
        std::string::npos);
  writer.i32s("llama.one_more", {1});
  CHECK(refusal(scratch.write("many.gguf", writer.file())).find("claims an array") !=
        std::string::npos);
}

TEST_CASE("parts that count themselves otherwise than their names are refused") {
  const Scratch scratch;
  const auto part = [&](int number, int count, int said_number, int said_count, int tensors) {
    GgufWriter w = number == 1 ? small() : GgufWriter();
    w.u16("split.no", static_cast<std::uint16_t>(said_number))
        .u16("split.count", static_cast<std::uint16_t>(said_count))
        .i32("split.tensors.count", tensors);
    return scratch.write(
        "m-0000" + std::to_string(number) + "-of-0000" + std::to_string(count) + ".gguf", w.file());
  };
  CHECK(refusal(part(1, 2, 0, 3, 1)).find("part 1 of 3") != std::string::npos);
  const std::string first = part(1, 2, 0, 2, 1);
  CHECK(refusal(first) == "there is no such file");
  part(2, 2, 0, 2, 1);
  CHECK(refusal(first).find("part 1 of 2") != std::string::npos);
  part(2, 2, 1, 2, 1);
  CHECK(refusal(first) == "none");
  part(1, 2, 0, 2, 7);
  CHECK(refusal(first).find("not 7") != std::string::npos);
}
