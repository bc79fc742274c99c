// SPDX-License-Identifier: Apache-2.0
#include "engine/llamacpp.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/llamacpp/memory.h"
#include "engine/options.h"
#include "engine/shapes.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

using Settings = std::map<std::string, std::string>;

std::unique_ptr<Engine> llama(const ModelSpec& model, Settings settings, std::string version = {},
                              std::string_view cache = "fp16", std::int64_t gpus = 1) {
  EngineOptions options = engine_options("llama.cpp");
  options.version = std::move(version);
  options.settings = std::move(settings);
  Deployment deployment;
  deployment.parallel.tp = gpus;
  deployment.cache = cache_formats(cache);
  return make_engine(options, model, deployment);
}

const ModelSpec kPlain = model_of({{32, attention(8, 128)}});  // 128 KiB per cell in 16 bits
constexpr std::int64_t kCell = 128 * kKiB;

Bytes total(const std::unique_ptr<Engine>& engine, std::int64_t context = 1,
            std::int64_t batch = 1) {
  return engine->reserved_total(Tokens(context), batch);
}

}  // namespace

TEST_CASE("ctx_size is shared by all slots and does not follow the load") {
  const auto engine = llama(kPlain, {{"ctx_size", "32768"}, {"parallel", "4"}});
  CHECK(total(engine) == Bytes(32768 * kCell));
  CHECK(total(engine, 8192, 32) == Bytes(32768 * kCell));
}

TEST_CASE("without ctx_size there are as many cells as the load needs") {
  CHECK(total(llama(kPlain, {}), 4096, 8) == Bytes(8 * 4096 * kCell));
  CHECK(total(llama(kPlain, {}), 4097, 1) == Bytes((4096 + 256) * kCell));
}

TEST_CASE("slots with cells of their own are padded one by one") {
  // 1024 / 3 = 341 → 512 cells for each of three slots (Gemma 3 270M, build 10107, public log).
  CHECK(total(llama(kPlain, {{"ctx_size", "1024"}, {"parallel", "3"}})) == Bytes(1536 * kCell));
  CHECK(total(llama(kPlain, {{"ctx_size", "1024"}, {"parallel", "3"}, {"kv_unified", "true"}})) ==
        Bytes(1024 * kCell));
}

TEST_CASE("a server that chooses its slots has four that share one cache") {
  const ModelSpec model = model_of({{1, attention(1, 64, Window{Tokens(128)})}});
  // ggml-org/llama.cpp#16736; cells of a window: pad256(4 x 128 + 512) = 1024, of 256 B each.
  CHECK(total(llama(model, {{"ctx_size", "32768"}})) == Bytes(1024 * 256));
  CHECK(total(llama(model, {{"ctx_size", "32768"}, {"flash_attn", "on"}}, "b6000")) ==
        Bytes(768 * 256));
}

TEST_CASE("a window never takes more cells than the whole context") {
  const ModelSpec model = model_of({{1, attention(1, 64, Window{Tokens(4096)})}});
  CHECK(total(llama(model, {{"ctx_size", "2048"}, {"parallel", "1"}})) == Bytes(2048 * 256));
  CHECK(total(llama(model, {{"ctx_size", "8192"}, {"parallel", "1"}, {"swa_full", "true"}})) ==
        Bytes(8192 * 256));
  CHECK(total(llama(model, {{"ctx_size", "8192"}, {"parallel", "1"}, {"ubatch_size", "128"}})) ==
        Bytes((4096 + 256) * 256));
}

TEST_CASE("builds before a cache of its own for sliding layers keep every cell") {
  const ModelSpec model = model_of({{1, attention(1, 64, Window{Tokens(128)})}});
  CHECK(total(llama(model, {{"ctx_size", "8192"}}, "b5400")) == Bytes(8192 * 256));
}

TEST_CASE("older builds pad to 32 cells without flash attention") {
  CHECK(total(llama(kPlain, {{"ctx_size", "1000"}}, "b5000")) == Bytes(1024 * kCell));
  CHECK(total(llama(kPlain, {{"ctx_size", "1025"}}, "b5000")) == Bytes(1056 * kCell));
  CHECK(total(llama(kPlain, {{"ctx_size", "1025"}, {"flash_attn", "on"}}, "b5000")) ==
        Bytes(1280 * kCell));
}

TEST_CASE("latents lost their values in 2026 and their heads in 2025") {
  const ModelSpec model = model_of({{61, latent()}});
  const Settings settings = {{"ctx_size", "16384"}, {"parallel", "1"}};
  CHECK(total(llama(model, settings)) == Bytes(61LL * 16384 * 576 * 2));
  CHECK(total(llama(model, settings, "b6000")) == Bytes(61LL * 16384 * (576 + 512) * 2));
  CHECK(total(llama(model, settings, "b5000")) == Bytes(61LL * 16384 * 128 * (192 + 128) * 2));
}

// DeepSeek-Coder-V2-Lite, 27 layers of 16 heads, in files from before April 2025: 1080 MiB for 4096
// tokens (llama_hparams::is_mla of current builds asks for keys that such files lack).
TEST_CASE("a file that keeps the latent's up-projection whole caches every head") {
  ModelSpec model = model_of({{27, latent()}});
  for (Layer& layer : model.layers) std::get<Latent>(layer.mixer.kind).heads = 16;
  const Settings settings = {{"ctx_size", "4096"}, {"parallel", "1"}};
  CHECK(total(llama(model, settings)) == Bytes(27LL * 4096 * 576 * 2));
  ModelSpec old = model;
  for (Layer& layer : old.layers)
    layer.weights.push_back({.name = "self_attn.kv_b",
                             .role = Role::attention,
                             .rows = 4096,
                             .columns = 512,
                             .format = &format_named("q4_k")});
  CHECK(total(llama(old, settings)) == Bytes(1080 * kMiB));
  CHECK(total(llama(old, {{"ctx_size", "4096"}, {"parallel", "1"}, {"mla_attn", "3"}})) ==
        Bytes(27LL * 4096 * 576 * 2));
  model.model_type = "minicpm3";
  CHECK(total(llama(model, settings)) == Bytes(1080 * kMiB));
}

TEST_CASE("windows of Phi-3 are not used") {
  ModelSpec model = model_of({{1, attention(1, 64, Window{Tokens(2047)})}});
  model.model_type = "phi3";
  CHECK(total(llama(model, {{"ctx_size", "8192"}, {"parallel", "1"}})) == Bytes(8192 * 256));
}

TEST_CASE("keys and values are stored in blocks of their own formats") {
  // q8_0: 34 B per 32 numbers, q4_0: 18 B.
  CHECK(total(llama(kPlain, {}, {}, "q8_0,q4_0"), 256) ==
        Bytes(32 * 256 * (1024 / 32) * (34 + 18)));
}

TEST_CASE("a cache that llama.cpp does not have is refused") {
  CHECK_THROWS_AS(llama(kPlain, {}, {}, "fp8"), Error);
  CHECK_THROWS_AS(llama(kPlain, {{"flash_attn", "off"}}, {}, "fp16,q8_0"), Error);
  CHECK_NOTHROW(llama(kPlain, {{"flash_attn", "off"}}, {}, "q8_0,fp16"));
  CHECK_THROWS_AS(llama(kPlain, {{"parallel", "0"}}), Error);
  CHECK_THROWS_AS(llama(kPlain, {{"spec_type", "draft-mtp"}}), Error);
}

TEST_CASE("states are fp32 rows of each slot, times the drafts that may fail") {
  // Qwen3.8-27B: 48 gated delta nets, 149.625 MiB a slot; with 4 drafts 748.125 (public log).
  const ModelSpec model = model_of({{48, gated_delta_net(48)}});
  CHECK(total(llama(model, {{"ctx_size", "8192"}, {"parallel", "4"}})) ==
        Bytes(598 * kMiB + kMiB / 2));
  CHECK(total(llama(model,
                    {{"parallel", "1"}, {"spec_type", "ngram-mod"}, {"spec_draft_n_max", "4"}})) ==
        Bytes(kMiB * 748 + kMiB / 8));
}

TEST_CASE("draft layers of the model have a cache in f16 whatever the main cache is in") {
  // ggml-org/llama.cpp#22673: 8192 cells of one layer with 4 heads of 256: 32.00 MiB.
  ModelSpec model = model_of({{1, attention(4, 256)}});
  model.layers[0].role = Layer::mtp;
  CHECK(total(llama(model, {{"spec_type", "draft-mtp"}}, {}, "q4_0"), 8192) == Bytes(32 * kMiB));
  CHECK(total(llama(model, {}), 8192) == Bytes(0));
}

TEST_CASE("layers are dealt out evenly, the output counts as one more") {
  // 32 layers and the output on two devices: 17 and 15.
  const auto engine = llama(kPlain, {}, {}, "fp16", 2);
  CHECK(engine->reserved(Tokens(256), 1) == Bytes(17 * 256 * kCell / 32));
  CHECK(total(engine, 256) == Bytes(256 * kCell));
  const auto one = llama(kPlain, {{"split_mode", "none"}}, {}, "fp16", 2);
  CHECK(one->reserved(Tokens(256), 1) == Bytes(256 * kCell));
}

TEST_CASE("capacity is what ctx_size gives, or what the pool holds") {
  const auto fixed = llama(kPlain, {{"ctx_size", "32768"}, {"parallel", "4"}});
  const Capacity given = fixed->capacity(Bytes(32768 * kCell), Tokens(131072));
  CHECK(given.kv_tokens == 32768);
  CHECK(given.max_context == Tokens(8192));
  CHECK(given.max_concurrency == doctest::Approx(0.25));
  CHECK_FALSE(fixed->capacity(Bytes(32768 * kCell - 1), Tokens(131072)).kv_tokens.has_value());

  const Capacity solved = llama(kPlain, {})->capacity(Bytes(10000 * kCell), Tokens(131072));
  CHECK(solved.kv_tokens == 9984);  // 39 x 256
  CHECK(solved.max_context == Tokens(9984));
}

TEST_CASE("a budget leaves the margin of --fit and the compute buffer") {
  DeviceSpec device;
  device.memory.value = Bytes(24 * kGiB);
  // ikawrakow/ik_llama.cpp#530: Qwen3-32B, 151,936 tokens and 5,120 wide: 306.75 MiB.
  ModelSpec model = kPlain;
  model.vocabulary = 151936;
  model.hidden = 5120;
  const Budget budget = llama(model, {{"ctx_size", "8192"}})->budget(device);
  CHECK(budget.activation.value == Bytes(306 * kMiB + kMiB * 3 / 4));
  CHECK(budget.reserved.value == Bytes(kGiB));
  CHECK(budget.kv_pool.low < budget.kv_pool.value);
  CHECK(budget.kv_pool.value < budget.kv_pool.high);
  // Without flash attention the scores and their mask: 512 x 131,072 x 33 x 4 B = 8,448 MiB, and
  // beside them queries and attended values of 32 heads, keys and values of 16, three hidden rows:
  // 512 x (12,288 + 3 x 4,096) x 4 B = 48 MiB (public log: 9,240).
  ModelSpec wide = model_of({{36, attention(16, 128)}});
  const Budget scores =
      llama(wide, {{"ctx_size", "131072"}, {"flash_attn", "off"}})->budget(device);
  CHECK(scores.activation.value == Bytes(8496 * kMiB));
  CHECK(scores.activation.high >= Bytes(9240 * kMiB));
}

TEST_CASE("where no length is asked for, the cache and the scores of that length fit together") {
  DeviceSpec device;
  device.memory.value = Bytes(12 * kGiB);
  ModelSpec model = model_of({{36, attention(16, 128)}});
  model.max_context = Tokens(131072);
  const auto engine = llama(model, {{"flash_attn", "off"}});
  const Budget budget = engine->budget(device);
  const auto longest = engine->capacity(budget.kv_pool.value, Tokens(131072)).max_context;
  REQUIRE(longest);
  // 36 layers x 16 heads x 256 numbers x 2 B of cache and 512 x 33 x 4 B of scores for each cell.
  const std::int64_t cell = 36 * 16 * 256 * 2 + 512 * 33 * 4;
  const std::int64_t left = 12 * kGiB - kGiB - 400 * kMiB;
  CHECK(longest->n * cell <= left);
  CHECK((longest->n + 256) * cell > left);
}

TEST_CASE("ollama's windows hold every sequence's and one batch") {
  const ModelSpec model = model_of({{1, attention(1, 64, Window{Tokens(1024)})}});
  const auto ollama = [&](Settings settings, std::string_view cache = "fp16") {
    const EngineOptions options = engine_options("ollama", std::move(settings));
    Deployment deployment;
    deployment.cache = cache_formats(cache);
    return total(make_engine(options, model, deployment));
  };
  // kvcache/causal.go: window + batch; with several sequences each keeps one token more.
  CHECK(ollama({{"num_ctx", "8192"}}) == Bytes(1536 * 256));
  CHECK(ollama({{"num_ctx", "8192"}, {"num_parallel", "2"}}) == Bytes(2816 * 256));
  CHECK(ollama({{"num_ctx", "1024"}, {"num_parallel", "2"}}) == Bytes(2048 * 256));
  CHECK(ollama({{"num_ctx", "8192"}}, "q8_0") == Bytes(1536 * 4 * 34));
  CHECK_THROWS_AS(ollama({}, "q8_0,q4_0"), Error);
  CHECK_THROWS_AS(ollama({{"flash_attention", "0"}}, "q8_0"), Error);
}

TEST_CASE("the devices that a search looks at hold as much as the fullest of all") {
  const Catalog catalog;
  for (const char* name : {"gemma-3-27b", "qwen3-next-80b-a3b", "deepseek-v4-flash"}) {
    CAPTURE(name);
    const ModelSpec model = catalog.model(name);
    const EngineOptions options = engine_options("llama.cpp");
    const CacheFormats cache = cache_formats("fp16");
    const llamacpp::Serving serving = llamacpp::server_of(options, model, cache);
    const auto all = llamacpp::devices_of(model, cache, serving, 8);
    const auto kept = llamacpp::not_outdone(all);
    CHECK(kept.size() < all.size());
    for (const std::int64_t context : {1, 300, 5000, 131072})
      for (const std::int64_t batch : {1, 3, 64}) {
        const auto cells = llamacpp::cells_of(serving, Tokens(context), batch);
        const auto most = [&](const std::vector<llamacpp::Device>& devices) {
          Bytes bytes;
          for (const auto& d : devices)
            bytes = std::max(bytes, llamacpp::cache_bytes(d, serving, cells));
          return bytes;
        };
        CHECK(most(kept) == most(all));
      }
  }
}
