// SPDX-License-Identifier: Apache-2.0
// What vLLM's flags change in its budget. Sizes of the cache: vllm_runs_test.cpp.
#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/command_line.h"
#include "engine/options.h"

using namespace kvplan;

namespace {

using Set = std::map<std::string, std::string>;

Budget budget(const char* model, const Set& set, Parallelism parallel = {},
              const char* version = "0.33.0") {
  static const Catalog kCatalog;
  EngineOptions options = test::engine_options(std::string("vllm@") + version, set);
  options.device = kCatalog.device("h100-sxm");
  options.max_model_len = Tokens(8192);
  Deployment deployment;
  deployment.parallel = parallel;
  return make_engine(options, kCatalog.model(model), deployment)->budget(*options.device);
}

std::int64_t weights(const char* model, const Set& set, Parallelism parallel = {}) {
  return budget(model, set, parallel).weights.value.n;
}

std::string refused(const Set& set) {
  try {
    budget("llama-3.1-8b", set);
  } catch (const Error& e) {
    return e.key;
  }
  return {};
}

}  // namespace

TEST_CASE("vLLM leaves as many weights to the host as it is told, but none of the ends") {
  const std::int64_t all = weights("llama-3.1-8b", {});
  CHECK(all - weights("llama-3.1-8b", {{"cpu_offload_gb", "4"}}) == 4 * kGiB);
  // 32 layers of 218,112,000 parameters in 16 bits are all that can go.
  CHECK(all - weights("llama-3.1-8b", {{"cpu_offload_gb", "100"}}) == 32 * 436224000LL);
  const Budget some = budget("llama-3.1-8b", {{"cpu_offload_gb", "4"}});
  CHECK(some.weights.low < some.weights.value);  // the last matrix goes whole
}

TEST_CASE("vLLM fetches layers of each group ahead into buffers") {
  const std::int64_t all = weights("llama-3.1-8b", {});
  const auto less = [&](const Set& set) { return all - weights("llama-3.1-8b", set); };
  CHECK(less({{"offload_group_size", "8"}, {"offload_num_in_group", "2"}}) == 7 * 436224000LL);
  CHECK(less({{"offload_group_size", "8"}, {"offload_prefetch_step", "2"}}) == 2 * 436224000LL);
  CHECK(refused({{"offload_group_size", "2"}, {"offload_num_in_group", "3"}}) ==
        "offload_num_in_group");
}

TEST_CASE("copies of busy experts are spread over the ranks with the others") {
  Parallelism eight;
  eight.tp = eight.ep = 8;
  const Set spare = {{"enable_eplb", "true"}, {"eplb_config.num_redundant_experts", "32"}};
  // 9,503,042,304 less 7,691,096,832 B of parameters as vLLM 0.33.0 builds the model, of which
  // 6,144 are maps of experts: 4 of each of 48 layers are more.
  CHECK(weights("qwen3-30b-a3b", spare, eight) - weights("qwen3-30b-a3b", {}, eight) ==
        48LL * 4 * 3 * 2048 * 768 * 2);
}

TEST_CASE("fewer captured sizes leave more of the budget, none as much as eager steps") {
  const auto graphs = [](const Set& set) { return budget("llama-3.1-8b", set).graph; };
  const BudgetLine usual = graphs({});
  CHECK(graphs({{"max_cudagraph_capture_size", "512"}}).value == usual.value);  // 51 sizes
  CHECK(graphs({{"max_cudagraph_capture_size", "64"}}).value ==
        graphs({{"cudagraph_capture_sizes", "1,2,4,8,16,24,32,40,48,56,64"}}).value);
  CHECK(graphs({{"cudagraph_capture_sizes", "1,2"}}).value < usual.value);
  for (const char* flag : {"enforce_eager", "compilation_config.cudagraph_mode"})
    CHECK(graphs({{flag, flag[0] == 'e' ? "true" : "NONE"}}).value.n == 0);
  CHECK(graphs({{"optimization_level", "0"}}).value.n == 0);
}

TEST_CASE("so many blocks as asked for are the pool, whatever fits") {
  // 32 layers of 16 tokens of 4,096 B.
  CHECK(budget("llama-3.1-8b", {{"num_gpu_blocks_override", "5000"}}).kv_pool.value.n ==
        5000LL * 2097152);
}

TEST_CASE("weights of 16 bits are loaded in 32 where asked, quantised ones are refused") {
  // 8,030,261,248 parameters; the table of angles stays.
  CHECK(weights("llama-3.1-8b", {{"dtype", "float32"}}) - weights("llama-3.1-8b", {}) ==
        2 * 8030261248LL);
  CHECK_THROWS_AS(budget("gpt-oss-120b", {{"dtype", "float32"}}), Error);
}

TEST_CASE("eight ranks hold the parameters and tables that vLLM builds for one") {
  Parallelism eight;
  eight.tp = 8;
  const auto near = [](std::int64_t ours, std::int64_t built, double part = 0.002) {
    CHECK(static_cast<double>(ours) == doctest::Approx(static_cast<double>(built)).epsilon(part));
  };
  // Bytes of parameters and buffers of vLLM 0.33.0's own modules, built on a CPU.
  near(weights("deepseek-v4-flash", {}, eight), 21181771804);
  // Vectors of recurrences are counted whole here: of so small a model they are 0.5 %.
  near(weights("zamba2-2.7b", {}, eight), 800405360, 0.006);
  // 85,161,162,736 with experts spread, and after loading the up-projections of latents in 16 bits
  // beside those in 8: 61 layers of 4,096 x 512.
  eight.ep = 8;
  near(weights("deepseek-v3", {}, eight), 85161162736 + 61LL * 4096 * 512 * 2);
}

TEST_CASE("a connector that cannot tell groups apart keeps whole windows") {
  const auto pages = [](const Set& set, const char* version) {
    static const Catalog kCatalog;
    EngineOptions options = test::engine_options(std::string("vllm@") + version, set);
    return make_engine(options, kCatalog.model("gpt-oss-20b"), {})->reserved(Tokens(65536), 1).n;
  };
  const char* named = "kv_transfer_config.kv_connector";
  for (const char* version : {"0.20.2", "0.33.0"}) {
    const std::int64_t windows = pages({}, version);
    CHECK(pages({{named, "LMCacheConnectorV1"}}, version) > windows);
    CHECK(pages({{"disable_hybrid_kv_cache_manager", "false"}, {named, "P2pNcclConnector"}},
                version) == windows);
  }
  CHECK(pages({{named, "NixlConnector"}}, "0.33.0") == pages({}, "0.33.0"));
  CHECK(pages({{named, "NixlConnector"}}, "0.20.2") > pages({}, "0.20.2"));
  CHECK(pages({{"kv_offloading_size", "40"}}, "0.33.0") == pages({}, "0.33.0"));
}

TEST_CASE("a list of a command line is one setting, and its words are not the model") {
  const EngineCommand c = parse_command(
      "vllm serve --cudagraph-capture-sizes 1 2 4 --kv-cache-dtype-skip-layers 0 sliding_window "
      "--model org/m -O0 --disable-prefix-caching --enable-dbo "
      "-cc '{\"cudagraph_mode\":\"NONE\",\"pass_config\":{\"fuse_norm_quant\":true}}'",
      test::shipped_engines());
  CHECK(c.model == "org/m");
  CHECK(c.options.settings == Set{{"cudagraph_capture_sizes", "1,2,4"},
                                  {"kv_cache_dtype_skip_layers", "0,sliding_window"},
                                  {"optimization_level", "0"},
                                  {"enable_prefix_caching", "false"},
                                  {"compilation_config.cudagraph_mode", "NONE"}});
  REQUIRE(c.warnings.size() == 1);
  CHECK(c.warnings[0].code == "flag-not-followed");
  CHECK(c.warnings[0].message.starts_with("--enable-dbo "));
}

TEST_CASE("a key of a JSON flag is a flag of its own, by its short name too") {
  for (const char* flag : {"-cc.cudagraph_mode", "--compilation-config.cudagraph_mode"}) {
    const EngineCommand c = parse_command(std::string("vllm serve m ") + flag + "=NONE -cc.mode 3",
                                          test::shipped_engines());
    CHECK(c.options.settings == Set{{"compilation_config.cudagraph_mode", "NONE"}});
    CHECK(c.warnings.empty());
  }
}

TEST_CASE("a flag that is known and not followed is refused as a setting, with the reason") {
  const EngineOptions options = test::engine_options("vllm", {{"enable_dbo", "true"}});
  CHECK_THROWS_WITH(check_settings(options), doctest::Contains("micro-batches"));
}
