// SPDX-License-Identifier: Apache-2.0
// What a path means, and what read_model_at makes of it.
#include "catalog/model_path.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "catalog/gguf_writer.h"
#include "catalog/model_file.h"
#include "catalog/part_name.h"
#include "catalog/safetensors_writer.h"
#include "catalog/scratch.h"
#include "model/parameters.h"

using namespace kvplan;
using testing::GgufWriter;
using testing::SafetensorsWriter;
using testing::Scratch;

namespace {

const std::string kConfig =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "vocab_size": 100,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96})";

// The whole model in formats that its configuration does not say.
SafetensorsWriter checkpoint() {
  SafetensorsWriter w;
  w.f8("model.embed_tokens.weight", {100, 64}).f8("lm_head.weight", {100, 64});
  w.f8("model.norm.weight", {64});
  for (const char* name : {"self_attn.q_proj", "self_attn.o_proj"})
    w.f8("model.layers.0." + std::string(name) + ".weight", {64, 64});
  for (const char* name : {"self_attn.k_proj", "self_attn.v_proj"})
    w.f8("model.layers.0." + std::string(name) + ".weight", {32, 64});
  for (const char* name : {"mlp.gate_proj", "mlp.up_proj"})
    w.f8("model.layers.0." + std::string(name) + ".weight", {96, 64});
  w.f8("model.layers.0.mlp.down_proj.weight", {64, 96});
  for (const char* name : {"input_layernorm", "post_attention_layernorm"})
    w.f8("model.layers.0." + std::string(name) + ".weight", {64});
  return w;
}

GgufWriter gguf() {
  GgufWriter w;
  w.text("general.architecture", "llama").u32("llama.block_count", 1);
  w.u32("llama.embedding_length", 64).u32("llama.attention.head_count", 4);
  return w.tensor("token_embd.weight", {64, 10}, 1, 64 * 10 * 2), w;
}

std::string advice_of(const std::string& path) {
  try {
    model_path(path);
  } catch (const Error& e) {
    CHECK(e.file == path);
    return e.advice;
  }
  return "none";
}

}  // namespace

TEST_CASE("a folder means its checkpoint, not only its configuration") {
  const Scratch scratch;
  scratch.write("config.json", kConfig);
  const ModelSpec configured = read_model_at(scratch.folder());
  CHECK(resident_weights(configured).n == 2 * count_parameters(configured).total);
  scratch.write("model.safetensors", checkpoint().file());
  scratch.write("adapter_model.safetensors", SafetensorsWriter().f8("lora", {4}).file());
  const ModelSpec stored = read_model_at(scratch.folder());
  CHECK(resident_weights(stored).n == count_parameters(configured).total);
  CHECK(stored.warnings.empty());
  CHECK(stored.name == std::filesystem::path(scratch.folder()).filename());
  CHECK(read_model_at(scratch.folder() + "/").name == stored.name);
  CHECK(read_model_at(scratch.path("model.safetensors")).name == stored.name);
}

TEST_CASE("files that do not say whether they belong together leave the configuration") {
  const Scratch scratch;
  scratch.write("config.json", kConfig);
  scratch.write("one.safetensors", checkpoint().file());
  scratch.write("two.safetensors", checkpoint().file());
  const ModelSpec model = read_model_at(scratch.folder());
  REQUIRE(model.warnings.size() == 1);
  CHECK(model.warnings[0].code == "checkpoint-not-read");
  CHECK(resident_weights(model).n == 2 * count_parameters(model).total);
}

TEST_CASE("shards without their index are one checkpoint as far as their names say") {
  const Scratch scratch;
  scratch.write("config.json", kConfig);
  const std::string first = scratch.write("model-00001-of-00002.safetensors", checkpoint().file());
  ModelSpec model = read_model_at(scratch.folder());
  REQUIRE(model.warnings.size() == 1);
  CHECK(model.warnings[0].code == "missing-shards");
  CHECK(model.warnings[0].message.find("model-00002-of-00002") != std::string::npos);
  scratch.write("model-00002-of-00002.safetensors", SafetensorsWriter().file());
  for (const std::string& path : {scratch.folder(), first}) {
    model = read_model_at(path);
    CHECK(model.warnings.empty());
    CHECK(resident_weights(model).n == count_parameters(model).total);
  }
  scratch.write("model-00002-of-00002.safetensors", checkpoint().file());  // one shard twice
  CHECK_THROWS_AS(read_model_at(first), Error);
}

TEST_CASE("a folder of GGUF files means the only model in it") {
  const Scratch scratch;
  CHECK(advice_of(scratch.folder()).find("Name the file") == 0);
  scratch.write("small-00001-of-00002.gguf", gguf().file());
  scratch.write("small-00002-of-00002.gguf", GgufWriter().file());
  scratch.write("mmproj-small.gguf", "no model of language");
  CHECK(model_path(scratch.folder()).path == scratch.path("small-00001-of-00002.gguf"));
  CHECK(read_model_at(scratch.folder()).layers.size() == 1);
  const std::string other = scratch.write("large.gguf", gguf().file());
  CHECK(advice_of(scratch.folder()).find(other) != std::string::npos);
  CHECK(model_path(other).name == "large");
}

TEST_CASE("a path that is nothing, and a file of another kind, are refused by their name") {
  const Scratch scratch;
  CHECK(advice_of(scratch.path("absent.gguf")).empty());
  CHECK(advice_of(scratch.write("notes.txt", "")).find(".safetensors") != std::string::npos);
}

TEST_CASE("adapters and pickled weights are refused by what they are, alone or in their folder") {
  const Scratch scratch;
  const std::string adapter =
      scratch.write("adapter_model.safetensors", SafetensorsWriter().f8("lora", {4}).file());
  CHECK(advice_of(adapter).find("base_model_name_or_path") != std::string::npos);
  CHECK(advice_of(scratch.folder()).find("base_model_name_or_path") != std::string::npos);
  const std::string config = scratch.write("adapter_config.json", "{}");
  CHECK(advice_of(config).find("base_model_name_or_path") != std::string::npos);
  const Scratch pickled;
  const std::string bin = pickled.write("pytorch_model.bin", "");
  CHECK(advice_of(bin).find("config.json") != std::string::npos);
  CHECK(advice_of(pickled.folder()).find("config.json") != std::string::npos);
  const std::string index = pickled.write("pytorch_model.bin.index.json", "{}");
  CHECK(advice_of(index).find("config.json") != std::string::npos);
  pickled.write("config.json", kConfig);
  CHECK(model_path(pickled.folder()).kind == ModelPath::config);
}

// models--org--name/snapshots/REVISION/model.safetensors -> ../../blobs/HASH
TEST_CASE("a folder that huggingface_hub keeps is known by the model's name") {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const fs::path hub = fs::path(scratch.folder()) / "models--org--Small-1B";
  const fs::path revision = hub / "snapshots" / "0123abcd";
  fs::create_directories(revision);
  fs::create_directories(hub / "blobs");
  fs::rename(scratch.write("a", checkpoint().file()), hub / "blobs" / "a");
  fs::rename(scratch.write("b", kConfig), hub / "blobs" / "b");
  fs::create_symlink("../../blobs/a", revision / "model.safetensors");
  fs::create_symlink("../../blobs/b", revision / "config.json");
  for (const fs::path& path : {hub, revision, revision / "model.safetensors"}) {
    const ModelSpec model = read_model_at(path.string());
    CHECK(model.name == "Small-1B");
    CHECK(resident_weights(model).n == count_parameters(model).total);
    CHECK(model.warnings.empty());
  }
  fs::create_directories(hub / "snapshots" / "4567cdef");
  CHECK(advice_of(hub.string()).find("snapshots") != std::string::npos);
  fs::create_directories(hub / "refs");
  fs::rename(scratch.write("main", "0123abcd\n"), hub / "refs" / "main");
  CHECK(read_model_at(hub.string()).name == "Small-1B");
}

TEST_CASE("names of parts are told from other names") {
  const auto part = part_name("a/m-00002-of-00010.gguf", ".gguf");
  REQUIRE(part.has_value());
  CHECK(part->at(10) == "a/m-00010-of-00010.gguf");
  for (const char* name :
       {"m-00011-of-00010.gguf", "m-00000-of-00010.gguf", "m-2-of-3.gguf", "-00001-of-00002.gguf",
        "m-00001-of-00002.safetensors", "m-00001-of-99999.gguf", ".gguf", ""})
    CHECK_FALSE(part_name(name, ".gguf").has_value());
}
