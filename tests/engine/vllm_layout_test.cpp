// SPDX-License-Identifier: Apache-2.0
// Pages, groups and blocks inside vLLM's cache, against start-up lines and the engine's own rules.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/options.h"
#include "engine/vllm/groups.h"
#include "engine/vllm_models.h"

using namespace kvplan;
using namespace kvplan::test;
using namespace kvplan::vllm;

namespace {

// A server of `model` at `version`; `set` as on its command line.
struct Server {
  ModelSpec model;
  Parallelism parallel;
  Rules rules;
  Serving serving;
  std::vector<CacheGroup> groups;

  Server(ModelSpec m, const char* version, std::int64_t tp, const char* kv,
         std::map<std::string, std::string> set = {}, std::int64_t pp = 1)
      : rules(rules_of(parse_version(version))) {
    const EngineOptions options = engine_options("vllm", std::move(set));
    const Settings settings(options);
    model = drafted(std::move(m), draft_of(settings), settings);
    parallel.tp = tp;
    parallel.pp = pp;
    serving = serving_of(options, rules, model, parallel);
    groups = cache_groups(model, cache_formats(kv), serving.draft.layers != Draft::none);
  }
  Served served() const { return {model, parallel, rules, serving, Tokens(0)}; }
  Layout layout() const { return layout_of(buckets_of(groups, served()), served()); }
  Layout packed() const { return packed_layout(compressed_buckets(groups, served()), served()); }
};

std::map<std::string, std::string> drafting(const char* method, const char* tokens,
                                            const char* layers = "5") {
  const std::string shape = "speculative_config.draft_model_config.hf_config.";
  return {{"speculative_config.method", method},
          {"speculative_config.num_speculative_tokens", tokens},
          {shape + "num_hidden_layers", layers},
          {shape + "num_key_value_heads", "8"},
          {shape + "head_dim", "128"}};
}

struct Sizes {
  std::int64_t state, row, block;
};

Sizes sizes_of(const Server& s) {
  const auto state = std::find_if(s.groups.begin(), s.groups.end(), [](const CacheGroup& g) {
    return std::holds_alternative<State>(g.law);
  });
  const auto attention = std::find_if(s.groups.begin(), s.groups.end(), [](const CacheGroup& g) {
    return !std::holds_alternative<State>(g.law);
  });
  const Bytes bytes = state_page(std::get<State>(state->law), s.served());
  return {bytes.n, row_bytes(*attention, s.served()).n, s.layout().block_tokens};
}

double padding_percent(const Sizes& s) {
  return 100.0 * static_cast<double>(s.block * s.row - s.state) / static_cast<double>(s.state);
}

}  // namespace

TEST_CASE("states, blocks and their padding are those that hybrid models print") {
  // club-3090#1047, #158, #104, #642; vllm#28228; public logs of the others.
  const Sizes qwen = sizes_of({shape_named("qwen-27b"), "0.21", 1, "bf16"});
  CHECK(qwen.state == 3207168);
  CHECK(qwen.row == 4096);
  CHECK(qwen.block == 784);
  CHECK(padding_percent(qwen) == doctest::Approx(0.13).epsilon(0.04));
  CHECK(sizes_of({shape_named("qwen-27b"), "0.21", 2, "fp8"}).state == 1603584);
  CHECK(sizes_of({shape_named("qwen-27b-mtp"), "0.21", 2, "fp8", drafting("mtp", "3")}).state ==
        1634304);
  const Sizes seven =
      sizes_of({shape_named("qwen-27b"), "0.27", 1, "bf16", drafting("dflash", "7")});
  CHECK(seven.block == 832);
  CHECK(padding_percent(seven) == doctest::Approx(1.71).epsilon(0.004));
  const Sizes five =
      sizes_of({shape_named("qwen-27b"), "0.21", 2, "bf16", drafting("dflash", "5")});
  CHECK(five.state == 1654784);
  CHECK(padding_percent(five) == doctest::Approx(0.99).epsilon(0.01));
  const Sizes small = sizes_of({shape_named("qwen-0.8b"), "0.21", 1, "bf16"});
  CHECK(small.block == 544);
  CHECK(padding_percent(small) == doctest::Approx(2.64).epsilon(0.002));
  const Sizes nemotron = sizes_of({shape_named("nemotron-30b"), "0.20", 1, "fp8"});
  CHECK(nemotron.block == 4176);
  CHECK(padding_percent(nemotron) == doctest::Approx(0.19).epsilon(0.03));
  const Sizes lfm = sizes_of({shape_named("lfm"), "0.19", 1, "bf16"});
  CHECK(lfm.block == 16);
  CHECK(padding_percent(lfm) == doctest::Approx(300));
}

TEST_CASE("a block size above 16 becomes the grain of a hybrid model's block") {
  const std::map<std::string, std::string> set = {
      {"block_size", "816"},
      {"speculative_config.method", "ngram"},
      {"speculative_config.num_speculative_tokens", "7"}};
  CHECK(sizes_of({shape_named("qwen-27b"), "0.27", 2, "bf16", set}).block == 1632);
}

TEST_CASE("rows are stored as the cache format has them") {
  const auto row = [](const char* model, const char* version, std::int64_t tp, const char* kv) {
    const Server s(shape_named(model), version, tp, kv);
    return row_bytes(s.groups.front(), s.served()).n;
  };
  CHECK(row("llama-8b", "0.11", 1, "bf16") == 4096);
  CHECK(row("llama-8b", "0.11", 16, "bf16") == 512);  // one head, replicated
  CHECK(row("kimi-k2", "0.11", 8, "bf16") == 1152);   // not divided
  CHECK(row("gemma4-31b", "0.22", 2, "int8_per_token_head") == 4160);
}

TEST_CASE("before latents were cached MLA stored padded heads") {
  // vllm#4650: 60 layers, 128 heads over 8 ranks: 983,040 B per token.
  ModelSpec m = shape_named("kimi-k2");
  m.layers.assign(60, latent_layer(128));
  const Server s(m, "0.5", 8, "bf16");
  CHECK(row_bytes(s.groups.front(), s.served()).n * 60 == 983040);
}

TEST_CASE("padding layers are those that vLLM warns of") {
  // club-3090#642: 3 of 48; vllm#46462: 2 of 30 and 6 of 10.
  CHECK(Server(shape_named("qwen-27b-mtp"), "0.21", 2, "fp8", drafting("mtp", "3"))
            .layout()
            .padding_layers == 3);
  CHECK(Server(shape_named("qwen-35b"), "0.20", 1, "bf16", drafting("dflash", "5", "8"))
            .layout()
            .padding_layers == 8);
}

TEST_CASE("pages that do not divide are scaled and padded, padded, packed or refused by version") {
  const auto layout = [](const char* version) {
    return Server(shape_named("gemma4-31b"), version, 2, "int8_per_token_head").layout();
  };
  // Rows of 4,160 and 2,064 bytes: pages of 66,560 and 33,024.
  CHECK_THROWS_AS(layout("0.20"), Error);
  CHECK(layout("0.22").bytes_per_block.n == 10 * 66560);
  CHECK(layout("0.22").rows[1].demand.block == 32);
  CHECK(layout("0.24").rows[1].demand.block == 16);
  CHECK(layout("0.24").bytes_per_block.n == 10 * 66560);
  CHECK(layout("0.27").bytes_per_block.n == 10 * 66560);
  CHECK(layout("0.27").groups() == 6);
}

TEST_CASE("without the hybrid manager windows are stored in full") {
  const auto groups = [](const char* version, std::map<std::string, std::string> set) {
    return Server(gemma4(8, 8, 4), version, 1, "bf16", std::move(set)).layout().groups();
  };
  CHECK(groups("0.9", {}) == 1);
  CHECK(groups("0.11", {}) == 6);
  CHECK(groups("0.11", {{"disable_hybrid_kv_cache_manager", "true"}}) == 1);
}

TEST_CASE("a block of DeepSeek-V4-Flash has the bytes of its version") {
  const auto bytes = [](const char* version) {
    return Server(shape_named("v4-flash"), version, 2, "fp8_ds_mla").packed().bytes_per_block.n;
  };
  CHECK(bytes("0.22") == 1051776);
  CHECK(bytes("0.23") == 1039680);
  CHECK(bytes("0.27") == 1002240);
}

TEST_CASE("DeepSeek-V4-Flash needs 6,800 pages for 30,000 tokens") {
  // vllm#44376: 118 + 2 x 259 + 4,099 + 2,065 pages, 6.66 GiB.
  const Layout layout = Server(shape_named("v4-flash"), "0.22", 2, "fp8_ds_mla",
                               {{"max_num_batched_tokens", "16384"}})
                            .packed();
  CHECK(layout.groups() == 5);
  CHECK(layout.pages_of_request(30000) == 6800);
  CHECK((layout.checked_bytes_per_block * 6800).real() / static_cast<double>(kGiB) ==
        doctest::Approx(6.66).epsilon(0.001));
}

TEST_CASE("the common repeat adds the fewest layers, the larger of equals") {
  CHECK(common_repeat({21, 43, 21, 20}, 21) == 22);
  CHECK(common_repeat({10, 50}, 1) == 10);
  CHECK(common_repeat({7}, 1) == 7);
}

TEST_CASE("the layers of a pipeline are split as evenly as they can be, the last stage spared") {
  const auto count = [](int layers, std::int64_t pp, int stage) {
    const std::vector<int> stages = stages_of(dense(layers, 8, 128), pp);
    return std::count(stages.begin(), stages.end(), stage);
  };
  CHECK(count(48, 2, 0) == 24);
  CHECK(count(61, 4, 0) == 15);
  CHECK(count(61, 4, 2) == 16);
  CHECK(count(61, 4, 3) == 15);
  CHECK(count(2, 4, 0) + count(2, 4, 1) + count(2, 4, 2) + count(2, 4, 3) == 2);
}

TEST_CASE("the fullest stage of a pipeline sets the block, all stages together hold every layer") {
  const Layout one = Server(shape_named("llama-8b"), "0.11", 1, "bf16").layout();
  const Layout four = Server(dense(33, 8, 128), "0.11", 1, "bf16", {}, 4).layout();
  CHECK(one.bytes_per_block.n == 32 * 65536);
  CHECK(four.bytes_per_block.n == 9 * 65536);
  Bytes all;
  for (Bytes b : four.stage_blocks) all += b;
  CHECK(all.n == 33 * 65536);
}

TEST_CASE("a request takes the pages that its law keeps") {
  CHECK(pages_of({Demand::full, 16}, 33) == 3);
  CHECK(pages_of({Demand::full, 16, 0, 0, 2}, 33) == 2);
  CHECK(pages_of({Demand::window, 16, 1024, 4096}, 131072) == 321);
  CHECK(pages_of({Demand::window, 16, 1024, 4096}, 16) == 2);
  CHECK(pages_of({Demand::chunk, 16, 8192, 0}, 100000) == 512);
  CHECK(pages_of({Demand::source, 16, 1500}, 10) == 94);
  CHECK(pages_of({Demand::fixed, 16, 5}, 1000000) == 5);
}

TEST_CASE("recurrent layers keep states by cache mode and drafted tokens") {
  const auto states = [](std::map<std::string, std::string> set, const char* version = "0.21") {
    const Server s(shape_named("qwen-27b"), version, 1, "bf16", std::move(set));
    const Layout layout = s.layout();
    const auto row = std::find_if(layout.rows.begin(), layout.rows.end(),
                                  [](const auto& r) { return r.groups == 3; });
    return pages_of(row->demand, 7840);
  };
  CHECK(states({{"mamba_cache_mode", "none"}}) == 1);
  CHECK(states({{"mamba_cache_mode", "align"}}) == 2);
  CHECK(states({}) == 1);  // prefix caching is on by default since 0.28
  CHECK(states({}, "0.28") == 2);
  CHECK(states({{"enable_prefix_caching", "true"}}) == 2);
  CHECK(states({{"enable_prefix_caching", "true"}}, "0.13") == 1);  // switched off again there
  CHECK_THROWS_AS(states({{"mamba_cache_mode", "sometimes"}}), Error);
}

TEST_CASE("a state for every block of a prefix is kept where that is asked, in whole chunks") {
  const auto layout = [](std::map<std::string, std::string> set, const char* version = "0.17") {
    set.emplace("enable_prefix_caching", "true");
    return Server(shape_named("granite-350m"), version, 1, "bf16", std::move(set)).layout();
  };
  const auto states = [](const Layout& l, std::int64_t context) {
    const auto row = std::find_if(l.rows.begin(), l.rows.end(),
                                  [](const Layout::Row& r) { return r.groups > 1; });
    return pages_of(row->demand, context);
  };
  // A state of 403,968 B, rows of 1,024 B: 395 tokens, two chunks of 256.
  CHECK(layout({{"mamba_cache_mode", "all"}}).block_tokens == 512);
  CHECK(states(layout({{"mamba_cache_mode", "all"}}), 5120) == 10);
  CHECK(layout({}).block_tokens == 512);  // asked for by default until 0.28
  CHECK(layout({}, "0.28").block_tokens == 400);
  CHECK(states(layout({}, "0.28"), 5120) == 2);
}

TEST_CASE("more context never needs fewer pages, and more memory never holds less") {
  for (const char* name : {"qwen-27b", "gemma4-12b", "v4-flash", "kimi-linear", "lfm"}) {
    CAPTURE(name);
    const Server s(shape_named(name), "0.28", 2,
                   std::string_view(name) == "v4-flash" ? "fp8_ds_mla" : "bf16");
    const Layout layout = std::string_view(name) == "v4-flash" ? s.packed() : s.layout();
    std::int64_t before = 0;
    for (std::int64_t n = 1; n < 300000; n = n * 5 / 4 + 1) {
      const std::int64_t now = layout.blocks_of_request(n);
      CHECK(now >= before);
      before = now;
    }
    Tokens last(0);
    for (std::int64_t gib = 1; gib <= 64; gib *= 2) {
      const auto longest = longest_request(layout, s.rules, Bytes(gib * kGiB), Tokens(262144));
      CHECK(longest.value_or(Tokens(0)) >= last);
      last = longest.value_or(Tokens(0));
    }
  }
}

TEST_CASE("the longest request is the last length that passes the check") {
  const Server s(shape_named("gemma4-12b"), "0.22", 2, "bf16");
  const Layout layout = s.layout();
  const Bytes pool(2 * kGiB);
  const Tokens longest = longest_request(layout, s.rules, pool, Tokens(262144)).value();
  CHECK(layout.checked_bytes_per_block * layout.pages_of_request(longest.n) <= pool);
  CHECK(layout.checked_bytes_per_block * layout.pages_of_request(longest.n + 1) > pool);
  CHECK_FALSE(longest_request(layout, s.rules, Bytes(1), Tokens(262144)).has_value());
}
