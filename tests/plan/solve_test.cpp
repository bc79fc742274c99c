// SPDX-License-Identifier: Apache-2.0
// Solvers against brute force over the same exact functions.
#include "plan/solve.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "cost/decode.h"
#include "engine/options.h"
#include "model/recipe.h"
#include "plan/room.h"

using namespace kvplan;

namespace {

Setup setup_of(const char* model, const char* device, const char* engine, std::int64_t tp = 1) {
  const Catalog catalog("");
  Setup s;
  s.model = apply_recipe(catalog.model(model), "config");
  s.device = catalog.device(device);
  s.engine = test::engine_options(engine);
  s.engine.device = s.device;
  s.deployment.parallel.tp = tp;
  return s;
}

// Windows, latents, states, plain attention, and each engine's own rounding.
std::vector<Setup> setups() {
  return {setup_of("llama-3.1-8b", "rtx-4090", "vllm"),
          setup_of("gemma-3-27b", "h100-sxm", "vllm"),
          setup_of("gemma-3-27b", "h100-sxm", "llama.cpp"),
          setup_of("gpt-oss-20b", "rtx-4090", "sglang"),
          setup_of("qwen3-next-80b-a3b", "h200-sxm", "vllm", 2),
          setup_of("deepseek-v2-lite", "l40s", "trtllm"),
          setup_of("llama-3.1-8b", "rtx-4090", "ideal")};
}

}  // namespace

TEST_CASE("the largest batch and context are those that a walk over all of them finds") {
  for (const Setup& setup : setups()) {
    CAPTURE(setup.model.name);
    CAPTURE(setup.engine.name);
    const Room room(setup);
    for (const std::int64_t context : {1000, 8192, 20000}) {
      std::int64_t most = 0;
      while (room.holds({Tokens(context), most + 1})) ++most;
      CHECK(room.largest_batch(Tokens(context)).value_or(0) == most);
    }
    for (const std::int64_t batch : {1, 7, 40}) {
      std::int64_t most = 0;
      while (most < 4000 && room.holds({Tokens(most + 1), batch})) ++most;
      CHECK(room.largest_context(batch, Tokens(4000)).value_or(Tokens(0)).n == most);
    }
  }
}

TEST_CASE("one token or one sequence more than the largest does not fit") {
  for (const Setup& setup : setups()) {
    const Room room(setup);
    const Tokens limit(1 << 22);
    const auto longest = room.largest_context(3, limit);
    REQUIRE(longest);
    CHECK(room.holds({*longest, 3}));
    if (*longest < limit) CHECK_FALSE(room.holds({*longest + Tokens(1), 3}));
  }
}

TEST_CASE("slots of llama-server divide the model's own length where no other is set") {
  Setup setup = setup_of("gpt-oss-20b", "rtx-4090", "llama.cpp");
  setup.engine.settings = {{"ctx_size", "0"}, {"parallel", "4"}};
  CHECK(Room(setup).largest_context(1, Tokens(131072)) == Tokens(131072 / 4));
}

TEST_CASE("replicas hold a batch between them") {
  Setup one = setup_of("llama-3.1-8b", "rtx-4090", "vllm"), three = one;
  three.deployment.parallel.dp = 3;
  const Room alone(one), spread(three);
  const auto each = alone.largest_batch(Tokens(4096));
  REQUIRE(each);
  CHECK(spread.largest_batch(Tokens(4096)) == 3 * *each);
  CHECK(spread.largest_context(1, Tokens(1 << 20)) == alone.largest_context(1, Tokens(1 << 20)));
}

TEST_CASE("the least utilization holds the load and a hundredth less does not") {
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    CAPTURE(engine);
    Setup setup = setup_of("llama-3.1-8b", "l40s", engine);
    const Load load{Tokens(4096), 20};
    const auto share = least_utilization(setup, load);
    REQUIRE(share);
    setup.engine.utilization = share;
    CHECK(Room(setup).holds(load));
    setup.engine.utilization = *share - 0.01;
    CHECK_FALSE(Room(setup).holds(load));
    CHECK_FALSE(least_utilization(setup, {Tokens(131072), 100}).has_value());
  }
  CHECK_FALSE(least_utilization(setup_of("llama-3.1-8b", "l40s", "ideal"), {Tokens(1), 1}));
}

TEST_CASE("the most sequence slots fit with what the engine reserves for just so many") {
  Setup setup = setup_of("llama-3.1-8b", "l40s", "vllm@0.10");
  const Tokens context(3000);
  const auto slots = most_sequences(setup, context);
  REQUIRE(slots);
  // V1 of 0.10 sorts the whole vocabulary for each slot, so that fewer slots leave more cache.
  CHECK(*slots >= *Room(setup).largest_batch(context));
  for (const std::int64_t more : {0, 1}) {
    setup.engine.settings["max_num_seqs"] = std::to_string(*slots + more);
    CHECK(Room(setup).holds({context, *slots + more}) == (more == 0));
  }
  CHECK_FALSE(most_sequences(setup_of("llama-3.1-8b", "l40s", "ideal"), context).has_value());
}

TEST_CASE("the most users at a rate get it, and one more would not") {
  const Setup setup = setup_of("llama-3.1-8b", "h100-sxm", "vllm");
  const Tokens context(2048);
  const DecodeModel decode(setup.model, setup.deployment, *setup.device);
  const auto rate = [&](std::int64_t n) { return 1 / decode.at(context, n).seconds->v; };
  const auto users = most_users_at(setup, context, 100);
  REQUIRE(users);
  CHECK(rate(*users) >= 100);
  CHECK(rate(*users + 1) < 100);
  CHECK_FALSE(most_users_at(setup, context, 1e6).has_value());
}
