// SPDX-License-Identifier: Apache-2.0
#include "engine/flags.h"
#include "engine/options.h"

#include <doctest/doctest.h>

#include <set>

using namespace kvplan;
using namespace kvplan::test;

namespace {

EngineOptions with(const std::string& name, std::map<std::string, std::string> settings) {
  return engine_options(name, std::move(settings));
}

std::string complaint(const EngineOptions& options) {
  try {
    check_settings(options);
  } catch (const Error& e) {
    return e.key + ": " + e.what() + ". " + e.advice;
  }
  return "";
}

}  // namespace

TEST_CASE("settings that an engine has are accepted") {
  CHECK(complaint(with("vllm", {{"max_num_seqs", "256"}, {"speculative_config.method", "mtp"}})) ==
        "");
  CHECK(complaint(with("llama.cpp", {{"ctx_size", "32768"}, {"flash_attn", "auto"}})) == "");
  CHECK(complaint(with("vllm", {{"port", "8000"}})) == "");
}

TEST_CASE("an unknown setting is refused with the near miss") {
  CHECK(complaint(with("vllm", {{"max_num_sqes", "8"}})).find("max_num_seqs") != std::string::npos);
  CHECK(complaint(with("llama.cpp", {{"tensor_parallel_size", "2"}})) != "");
  CHECK(complaint(with("ideal", {{"anything", "1"}})) != "");
  CHECK(complaint(with("vllm", {{"speculative_config.metod", "mtp"}}))
            .find("speculative_config.method") != std::string::npos);
}

TEST_CASE("a value of the wrong kind is refused and named") {
  CHECK(complaint(with("llama.cpp", {{"ctx_size", "much"}})).starts_with("ctx_size:"));
  CHECK(complaint(with("llama.cpp", {{"flash_attn", "maybe"}})).starts_with("flash_attn:"));
  CHECK(complaint(with("vllm", {{"mamba_cache_mode", "nome"}})).find("none") != std::string::npos);
  CHECK(complaint(with("vllm", {{"speculative_config", "{}"}})) != "");
  CHECK(complaint(with("vllm", {{"kv_cache_dtype", ""}})) != "");
}

TEST_CASE("a setting that an option says too becomes that option") {
  EngineOptions options =
      with("vllm",
           {{"tensor_parallel_size", "4"}, {"kv_cache_dtype", "fp8_e4m3"}, {"max_num_seqs", "64"}});
  const auto taken = take_common_options(options, {{"--pp", "2"}});
  CHECK(taken == std::map<std::string, std::string>{{"--kv", "fp8"}, {"--tp", "4"}});
  CHECK(options.settings == std::map<std::string, std::string>{{"max_num_seqs", "64"}});
}

TEST_CASE("an automatic cache format says nothing") {
  EngineOptions options = with("vllm", {{"kv_cache_dtype", "auto"}});
  CHECK(take_common_options(options, {{"--kv", "fp8"}}).empty());
}

TEST_CASE("llama.cpp's two cache types are one option") {
  EngineOptions options = with("llama.cpp", {{"cache_type_k", "q8_0"}});
  CHECK(take_common_options(options, {}).at("--kv") == "q8_0,fp16");
  options = with("llama.cpp", {{"cache_type_k", "q8_0"}, {"cache_type_v", "q8_0"}});
  CHECK(take_common_options(options, {{"--kv", "q8_0,q8_0"}}).at("--kv") == "q8_0");
}

TEST_CASE("the same thing said twice is accepted, said differently it names both") {
  EngineOptions same = with("vllm", {{"max_model_len", "32k"}, {"gpu_memory_utilization", "0.90"}});
  CHECK_NOTHROW(
      take_common_options(same, {{"--max-model-len", "32768"}, {"--utilization", "0.9"}}));

  EngineOptions other = with("vllm", {{"tensor_parallel_size", "4"}});
  try {
    take_common_options(other, {{"--tp", "2"}});
    FAIL("accepted");
  } catch (const Error& e) {
    const std::string what = e.what();
    CHECK(what.find("--tp says 2") != std::string::npos);
    CHECK(what.find("tensor_parallel_size says 4") != std::string::npos);
  }
  EngineOptions twice = with("trtllm", {{"kv_cache_free_gpu_memory_fraction", "0.9"},
                                        {"kv_cache_config.free_gpu_memory_fraction", "0.8"}});
  CHECK_THROWS_AS(take_common_options(twice, {}), Error);
}

TEST_CASE("no table has a flag twice, be it followed, idle or remarked on") {
  for (const CatalogEntry& entry : Catalog().entries("engines")) {
    const EngineOptions options = engine_options(entry.name);
    const EngineFlags& table = *options.flags;
    std::set<std::string_view> names;
    const auto once = [&](const std::string& name) {
      CAPTURE(name);
      CHECK(names.insert(name).second);
    };
    for (const EngineFlag& flag : table.flags) once(flag.name);
    for (const auto* idle : {&table.idle_switches, &table.idle_values})
      for (const std::string& name : *idle) once(name);
    for (const auto* remarks : {&table.remarked_switches, &table.remarked_values})
      for (const EngineFlags::Remark& remark : *remarks) once(remark.name);
  }
}
