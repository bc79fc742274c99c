// SPDX-License-Identifier: Apache-2.0
#include "plan/replication.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "engine/options.h"
#include "model/parameters.h"
#include "model/recipe.h"

using namespace kvplan;

namespace {

Setup setup_of(const char* model, std::int64_t tp, std::int64_t pp = 1, std::int64_t dp = 1,
               std::int64_t ep = 1) {
  const Catalog catalog("");
  Setup s;
  s.model = apply_recipe(catalog.model(model), "config");
  s.device = catalog.device("h100-sxm");
  s.engine = test::engine_options("ideal");
  s.deployment.parallel.tp = tp;
  s.deployment.parallel.pp = pp;
  s.deployment.parallel.dp = dp;
  s.deployment.parallel.ep = ep;
  return s;
}

StoredPart part(const Setup& setup, std::string_view what, const Load& load = {Tokens(8192), 8}) {
  for (const StoredPart& p : stored_parts(setup, load))
    if (p.what == what) return p;
  FAIL("no part ", what);
  return {};
}

}  // namespace

TEST_CASE("a latent is stored once per tensor-parallel rank, and once by data parallelism") {
  CHECK(part(setup_of("deepseek-v3", 8), "latent cache").copies() == 8);
  const Setup spread = setup_of("deepseek-v3", 1, 1, 8, 8);
  CHECK(part(spread, "latent cache").copies() == 1);
  CHECK(part(spread, "attention").copies() == 8);
  CHECK(part(spread, "routed_expert").copies() == 1);
  Setup shared = setup_of("deepseek-v3", 8);
  shared.deployment.parallel.dcp = 8;
  CHECK(part(shared, "latent cache").copies() == 1);
}

TEST_CASE("four KV heads are copied from eight ranks on, not from four") {
  CHECK(part(setup_of("qwen3-235b-a22b", 4), "cache").copies() == 1);
  CHECK(part(setup_of("qwen3-235b-a22b", 8), "cache").copies() == 2);
}

TEST_CASE("no layout stores less than is needed, and parts add up to the resident weights") {
  for (const Setup& s :
       {setup_of("llama-3.1-70b", 4, 2), setup_of("gemma-3-27b", 2, 3),
        setup_of("deepseek-v2-lite", 2, 1, 2, 4), setup_of("llama-3.2-1b", 1, 2)}) {
    CAPTURE(s.model.name);
    Bytes weights;
    for (const StoredPart& p : stored_parts(s, {Tokens(5000), 6})) {
      CAPTURE(p.what);
      CHECK(p.all >= p.once);
      CHECK(p.per_gpu <= p.all);
      if (find_role(p.what)) weights += p.once;
    }
    CHECK(weights == resident_weights(s.model));
  }
}

TEST_CASE("what must cross a link in a step is what the layout makes of it") {
  // 80 layers of two sums, 8,192 x 2 bytes, of which a rank of two has half itself.
  const auto sums = crossings(setup_of("llama-3.1-70b", 2), {Tokens(100), 3});
  REQUIRE(sums.size() == 1);
  CHECK(sums[0].kind == Crossing::all_reduce);
  CHECK(sums[0].times == 160);
  CHECK(sums[0].bytes == Bytes(3 * 160 * 8192));
  CHECK(sums[0].seconds->v == doctest::Approx(3 * 160 * 8192 / 450e9));
  // 58 layers x 8 experts, 7 of 8 elsewhere, there and back, 7,168 x 2 bytes.
  const auto experts = crossings(setup_of("deepseek-v3", 1, 1, 8, 8), {Tokens(100), 8});
  REQUIRE(experts.size() == 1);
  CHECK(experts[0].kind == Crossing::all_to_all);
  CHECK(experts[0].bytes == Bytes(58 * 7 * 2 * 14336));
  CHECK(experts[0].least == Bytes(0));  // 32 experts a GPU: the 8 of a token may lie together
  // 4 experts a GPU: two GPUs work for each token, so that two rows of 7,168 x 4 bits enter one.
  const auto spread = crossings(setup_of("deepseek-v3", 1, 1, 64, 64), {Tokens(100), 64});
  CHECK(spread[0].least == Bytes(58 * 2 * 7168 / 2));
  const auto stages = crossings(setup_of("llama-3.1-70b", 1, 2), {Tokens(100), 3});
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].bytes == Bytes(3 * 16384));
  CHECK(crossings(setup_of("llama-3.1-8b", 1), {Tokens(100), 3}).empty());
}

TEST_CASE("a cache moves at the rate of its link, each GPU's share at the same time") {
  const auto found = transfers(setup_of("llama-3.1-8b", 2), Tokens(8192));
  REQUIRE(found.size() == 3);
  // 128 KiB per token, half on each GPU.
  CHECK(found[0].bytes == Bytes(512 * kMiB));
  CHECK(found[0].seconds.v == doctest::Approx(512.0 * kMiB / 450e9));
  CHECK(found[1].seconds.v == doctest::Approx(512.0 * kMiB / 63.02e9));
  CHECK(found[2].path == Transfer::recompute);
}
