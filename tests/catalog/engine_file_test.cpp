// SPDX-License-Identifier: Apache-2.0
#include "catalog/engine_file.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "catalog/scratch.h"
#include "engine/settings.h"

using namespace kvplan;

namespace {

std::string complaint(std::string_view text) {
  try {
    read_engine(parse_yaml(text));
  } catch (const Error& e) {
    return std::to_string(e.line) + " " + e.key + ": " + e.what() + ". " + e.advice;
  }
  return "";
}

// The default of a flag in a version, on a device of so many GiB and on so many ranks.
std::string taken(std::string_view engine, const char* flag, std::string_view version,
                  std::int64_t gib = 80, std::string_view device = "h100-sxm",
                  std::int64_t ranks = 1) {
  const auto flags = Catalog().engine(engine);
  const auto* own =
      flags->find(flag)->default_at({parse_version(version), Bytes(gib * kGiB), device, ranks});
  return own ? own->value : "";
}

}  // namespace

TEST_CASE("every default of a shipped engine file has a source and a value of its flag's kind") {
  const Catalog catalog;
  REQUIRE(catalog.entries("engines").size() == 6);
  for (const CatalogEntry& entry : catalog.entries("engines")) {
    const auto engine = catalog.engine(entry.name);
    CHECK(engine->engine == entry.name);
    for (const EngineFlag& flag : engine->flags)
      for (const EngineFlag::Default& d : flag.defaults) {
        CAPTURE(flag.name);
        CHECK_FALSE(d.source.empty());
        CHECK_NOTHROW(check_value(flag, d.value));
      }
  }
}

TEST_CASE("a default follows the version, the device and the ranks") {
  CHECK(taken("vllm", "gpu_memory_utilization", "0.19.1") == "0.9");
  CHECK(taken("vllm", "gpu_memory_utilization", "0.20") == "0.92");  // vllm#38284
  CHECK(taken("vllm", "max_num_seqs", "0.20") == "1024");
  CHECK(taken("vllm", "max_num_seqs", "0.20", 80, "a100-80gb") == "256");
  CHECK(taken("vllm", "max_num_seqs", "0.20", 24, "rtx-4090") == "256");
  CHECK(taken("llama.cpp", "parallel", "b6000") == "1");
  CHECK(taken("llama.cpp", "parallel", "b7000") == "4");  // ggml-org/llama.cpp#16736
  // sglang/srt/server_args.py: below 35 GiB graphs of 24 sequences, of 80 from four ranks on.
  CHECK(taken("sglang", "cuda_graph_max_bs", "0.5.9", 24, "rtx-4090") == "24");
  CHECK(taken("sglang", "cuda_graph_max_bs", "0.5", 24, "rtx-4090", 4) == "80");
  CHECK(taken("trtllm", "kv_cache_config.tokens_per_block", "0.17") == "64");
  CHECK(taken("trtllm", "kv_cache_config.tokens_per_block", "1.0") == "32");
}

TEST_CASE("settings take the default where nothing was set, and only where defaults are wanted") {
  EngineOptions options = parse_engine("llama.cpp@b7500", Catalog().engines());
  CHECK_FALSE(Settings(options).integer("ubatch_size"));
  CHECK(Settings(options, site_of(options)).integer("ubatch_size") == 512);
  options.settings["ubatch_size"] = "1024";
  CHECK(Settings(options, site_of(options)).integer("ubatch_size") == 1024);
  CHECK(Settings(options).given("ubatch_size"));
  CHECK_FALSE(Settings(options, site_of(options)).given("parallel"));
}

TEST_CASE("a user's file changes what it names and keeps the rest") {
  const kvplan::testing::Scratch scratch;
  std::filesystem::create_directories(scratch.path("engines"));
  scratch.write("engines/ours.yaml",
                "name: vllm\nsource: our own image\nflags:\n"
                "  gpu_memory_utilization: {default: 0.8}\n"
                "  our_flag: {kind: integer, default: 7}\n");
  const auto flags = Catalog(scratch.folder()).engine("vLLM");
  const auto* own =
      flags->find("gpu_memory_utilization")->default_at({parse_version("0.28"), {}, "", 1});
  CHECK(own->value == "0.8");
  CHECK(own->source == "our own image");
  CHECK(flags->find("gpu_memory_utilization")->option == "--utilization");
  CHECK(flags->find("our_flag")->default_at(Site())->value == "7");
  CHECK(flags->find("max_num_seqs")->defaults.size() == 3);
  CHECK(flags->newest == "0.33.0");
}

TEST_CASE("a line of an engine's hardware needs a vendor and a source") {
  CHECK(complaint("name: x\nhardware:\n  - {of: NVIDIA}").starts_with("3 hardware: needs `of`"));
  CHECK(complaint("name: x\nsource: y\nhardware:\n  - {at_least: 8.0}")
            .starts_with("4 hardware: needs `of`"));
  CHECK(complaint("name: x\nsource: y\nhardware:\n  - {of: NVIDIA, at_least: new}")
            .find("'new' is not a version") != std::string::npos);
}

TEST_CASE("an engine file that says what is not known is refused at its line") {
  CHECK(complaint("name: x\nflags:\n  a: {kind: intger}") ==
        "3 kind: 'intger' is no kind of flag. Did you mean integer?");
  CHECK(complaint("name: x\nflags:\n  a: {kind: integer, default: 3}")
            .starts_with("3 a: this default has no source"));
  CHECK(complaint("name: x\nsource: y\nflags:\n  a: {kind: integer, default: many}")
            .starts_with("4 a: 'many' is not a whole number"));
  CHECK(complaint("name: x\nflags:\n  a: {default: 3}").starts_with("3 a: a flag needs its kind"));
  CHECK(complaint("name: x\nflag: {}").starts_with("2 flag: an engine file has no such key here"));
  CHECK(complaint("name: x\nsource: y\nflags:\n  a: {kind: number, default: [{value: 1, since: "
                  "soon}]}")
            .starts_with("4 a: 'soon' is not a version"));
}
