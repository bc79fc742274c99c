// SPDX-License-Identifier: Apache-2.0
#include "plan/lengths.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/options.h"
#include "model/recipe.h"

using namespace kvplan;

namespace {

Setup llama(const char* engine) {
  const Catalog catalog("");
  Setup s;
  s.model = apply_recipe(catalog.model("llama-3.1-8b"), "config");
  s.engine = test::engine_options(engine);
  return s;
}

}  // namespace

TEST_CASE("a trace is summed up by nearest ranks, and what is too long is counted apart") {
  Setup s = llama("vllm");
  s.engine.max_model_len = Tokens(1000);
  const std::vector<RequestLength> trace = {{100, 100}, {300, 100}, {500, 100}, {900, 101}};
  const LengthSummary summary = length_answer(s, trace).summary;
  CHECK(summary.requests == 3);
  CHECK(summary.too_long == 1);
  CHECK(summary.mean_input == doctest::Approx(300));
  CHECK(summary.mean_output == doctest::Approx(100));
  CHECK(summary.median == Tokens(400));
  CHECK(summary.p90 == Tokens(600));
  CHECK(summary.longest == Tokens(600));
  CHECK(summary.reserved == Tokens(1000));
  // All take 100 steps and hold their input and half of those on average.
  CHECK(summary.running.n == doctest::Approx(350).epsilon(0.01));
  s.engine.max_model_len = Tokens(50);
  CHECK_THROWS_AS(length_answer(s, trace), Error);
}

TEST_CASE("a running request is met as often as it takes steps") {
  // 1 step at 1,000 tokens and 999 steps from 0 to 999: (1 x 1000 + 999 x 499.5) / 1000.
  const std::vector<RequestLength> trace = {{1000, 1}, {0, 999}};
  CHECK(length_answer(llama("vllm"), trace).summary.running.n ==
        doctest::Approx(500).epsilon(0.01));
}

TEST_CASE("requests at once: one piece each, blocks at full length, blocks as they run") {
  Setup s = llama("vllm");
  s.engine.kv_pool = Bytes(8 * kGiB);
  const std::vector<RequestLength> trace = {{100, 300}, {1000, 1000}, {500, 100}};
  const auto rows = length_answer(s, trace).rows;
  REQUIRE(rows.size() == 3);
  // 128 KiB per token: 2,000 tokens a piece make 125 blocks, 250 MiB; 8 GiB hold 32 of them.
  CHECK(rows[0].requests == 32);
  CHECK(rows[0].waste == doctest::Approx(1 - 1000.0 / 2000));
  // 25, 125 and 38 blocks: 188 blocks of 2 MiB for three requests.
  CHECK(rows[1].requests == 4096 * 3 / 188);
  CHECK(rows[1].waste == doctest::Approx(1 - 3000.0 / (188 * 16)));
  // Running: (300 x 250 + 1000 x 1500 + 100 x 550) / 1400 = 1,164 tokens, and half a block: 146.5
  // MiB.
  CHECK(rows[2].requests == 55);
  s.deployment.parallel.dp = 2;
  CHECK(length_answer(s, trace).rows[0].requests == 64);
}

TEST_CASE("without a device a trace has waste and bytes but no number of requests") {
  const std::vector<RequestLength> trace = {{100, 300}};
  for (const Reservation& r : length_answer(llama("ideal"), trace).rows) {
    CHECK_FALSE(r.requests.has_value());
    CHECK(r.bytes_per_request.has_value());
  }
}
