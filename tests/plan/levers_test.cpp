// SPDX-License-Identifier: Apache-2.0
#include "plan/levers.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "engine/options.h"
#include "model/recipe.h"
#include "plan/reference_code.h"

using namespace kvplan;

namespace {

LeverQuestion question(const char* model, const char* device, Load load,
                       const char* engine = "vllm") {
  const Catalog catalog("");
  LeverQuestion q;
  q.as_read = catalog.model(model);
  q.setup.model = apply_recipe(q.as_read, "config");
  q.setup.device = catalog.device(device);
  q.setup.engine = test::engine_options(engine);
  q.setup.engine.device = q.setup.device;
  q.load = load;
  return q;
}

const Lever& named(const std::vector<Lever>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Lever& l) {
    return l.name.find(name) != std::string::npos;
  });
  REQUIRE(found != all.end());
  return *found;
}

bool has(const std::vector<Lever>& all, std::string_view name) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Lever& l) { return l.name.find(name) != std::string::npos; });
}

}  // namespace

TEST_CASE("a lever's gain is what asking again with its option gives") {
  const LeverQuestion q = question("llama-3.1-8b", "rtx-4090", {Tokens(8192), 4});
  const auto all = levers(q);
  const Outcome before = outcome(q.setup, q.load);
  Setup fp8 = q.setup;
  fp8.model = apply_recipe(q.as_read, "fp8");
  const Outcome after = outcome(fp8, q.load);
  const Lever& weights = named(all, "fp8 weights");
  CHECK(*weights.speed_gain ==
        doctest::Approx(*after.tokens_per_second / *before.tokens_per_second));
  CHECK(*weights.capacity_gain ==
        doctest::Approx(static_cast<double>(*after.users) / static_cast<double>(*before.users)));
  CHECK(*weights.first_token_gain == doctest::Approx(before.first_token->v / after.first_token->v));
}

TEST_CASE("an 8-bit cache holds twice the sequences where all layers keep all tokens") {
  const auto all = levers(question("llama-3.1-8b", "h100-sxm", {Tokens(8192), 1}));
  CHECK(*named(all, "fp8 KV cache").capacity_gain == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("what makes the load fit comes first, then the larger gain") {
  const auto all = levers(question("llama-3.1-70b", "h100-sxm", {Tokens(8192), 4}));
  double last = 1e300;
  bool fitting = true;
  for (const Lever& l : all) {
    if (l.kind != Lever::change) continue;
    CHECK((fitting || !l.makes_it_fit));
    if (fitting && !l.makes_it_fit) fitting = false, last = 1e300;
    CHECK(l.best_gain() <= last);
    last = l.best_gain();
  }
  CHECK(all.front().makes_it_fit);
}

TEST_CASE("a lever that does nothing says what binds instead") {
  // 512 short sequences of an 8B model pass the ridge of an H100 (295 flop/B at 16 bits).
  const auto all = levers(question("llama-3.1-8b", "h100-sxm", {Tokens(64), 512}));
  const Lever& speculation = named(all, "speculative");
  CHECK_FALSE(speculation.helps);
  CHECK(speculation.remark == "no gain: arithmetic binds here");
}

TEST_CASE("speculation gains what a pass yields while weight reads bind") {
  const auto all = levers(question("llama-3.1-8b", "h100-sxm", {Tokens(128), 1}));
  // (1 - 0.7^5) / (1 - 0.7) = 2.7731 tokens for 1 + 4 x 0.05 steps.
  CHECK(*named(all, "speculative").speed_gain == doctest::Approx(2.7731 / 1.2).epsilon(0.001));
  const auto own = levers(question("deepseek-v3", "b200", {Tokens(8192), 1}, "ideal"));
  CHECK(named(own, "speculative").how.find("MTP") != std::string::npos);
  CHECK(named(own, "speculative").basis == Basis::published);
}

TEST_CASE("a drafter takes its memory from the cache") {
  const auto all = levers(question("llama-3.1-8b", "rtx-4090", {Tokens(8192), 1}));
  CHECK(*named(all, "speculative").capacity_gain <= 1);
}

TEST_CASE("launch times are not guessed") {
  const auto all = levers(question("llama-3.1-8b", "rtx-4090", {Tokens(8192), 1}));
  CHECK_FALSE(named(all, "CUDA graphs").speed_gain.has_value());
  CHECK(named(all, "CUDA graphs").kind == Lever::in_place);
}

TEST_CASE("levers follow the engine and the model") {
  const auto gguf = levers(question("llama-3.1-8b", "rtx-4090", {Tokens(8192), 1}, "llama.cpp"));
  CHECK(has(gguf, "q8_0 KV cache"));
  CHECK_FALSE(has(gguf, "CUDA graphs"));
  const auto latent = levers(question("deepseek-v2-lite", "h100-sxm", {Tokens(8192), 1}));
  CHECK_FALSE(has(latent, "in place"));  // one latent serves all heads anyway
  CHECK_FALSE(has(latent, "MLA"));
  const auto mha = levers(question("llama-2-7b", "h100-sxm", {Tokens(2048), 1}));
  CHECK_FALSE(has(mha, "in place"));  // nothing to repeat
  CHECK(has(mha, "GQA-16"));
}

TEST_CASE("the score matrix and repeated heads cost what plain code moves") {
  CHECK(score_matrix(32, Tokens(8192)) == Bytes(std::int64_t{32} * 8192 * 8192 * 2));  // 4 GiB
  CHECK(score_traffic(Bytes(10)) == Bytes(40));
  // Concatenated (read, written), repeated 8 times (read, written) and read: 1 + 1 + 1 + 8 + 8.
  CHECK(repeated_traffic(Bytes(100), 8) == Bytes(1900));
}

TEST_CASE("a Mac may give its GPU more of the memory, and a card may not") {
  // 31.6 GiB of weights and 4 GiB of cache: more than the 36 GiB that Metal allows of 48.
  LeverQuestion q = question("qwen3-32b", "m4-max-48gb", {Tokens(16384), 1}, "llama.cpp");
  q.setup.model = apply_recipe(q.as_read, "q8_0");
  const auto all = levers(q);
  const Lever& more = named(all, "more memory for the GPU");
  CHECK(more.how == "sudo sysctl iogpu.wired_limit_mb=40960");
  CHECK(more.makes_it_fit);
  CHECK_FALSE(has(levers(question("qwen3-8b", "rtx-4090", {Tokens(4096), 1}, "llama.cpp")),
                  "more memory for the GPU"));
}

TEST_CASE("twice the GPUs are laid out to be fast too, not only to hold more") {
  LeverQuestion q = question("qwen3-30b-a3b", "h100-sxm", {Tokens(8192), 1});
  q.setup.deployment.parallel.tp = 2;
  const Lever more = named(levers(q), "twice the GPUs");
  CHECK(more.how == "--tp 4");
  CHECK(*more.speed_gain > 1.5);
}

// NVIDIA's architecture papers: Ampere's tensor cores take int8, Ada's fp8 too.
TEST_CASE("8-bit activations are advised in a format that the device multiplies") {
  CHECK(named(levers(question("llama-3.1-8b", "rtx-4090", {Tokens(8192), 1})), "8-bit act").how ==
        "--weights fp8");
  CHECK(named(levers(question("llama-3.1-8b", "a100-sxm-80gb", {Tokens(8192), 1})), "8-bit act")
            .how == "--weights int8-channel");
}
