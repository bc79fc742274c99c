// SPDX-License-Identifier: Apache-2.0
#include "plan/layouts.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "engine/options.h"
#include "model/recipe.h"

using namespace kvplan;

namespace {

Setup setup_of(const char* model, const char* device, const char* engine = "vllm") {
  const Catalog catalog("");
  Setup s;
  s.model = apply_recipe(catalog.model(model), "config");
  s.device = catalog.device(device);
  s.engine = test::engine_options(engine);
  s.engine.device = s.device;
  return s;
}

// Every product of three counts up to 64, whatever the search thinks of.
bool any_meets(const Setup& setup, const Need& need, std::int64_t gpus) {
  for (std::int64_t tp = 1; tp <= gpus; ++tp)
    for (std::int64_t pp = 1; pp <= gpus; ++pp)
      for (std::int64_t dp = 1; dp <= gpus; ++dp)
        for (const std::int64_t ep : {std::int64_t{1}, tp * dp}) {
          if (tp * pp * dp != gpus) continue;
          try {
            Parallelism layout;
            layout.tp = tp, layout.pp = pp, layout.dp = dp, layout.ep = ep;
            validate(setup.model, layout);
            if (evaluate_layout(setup, layout, need).meets()) return true;
          } catch (const Error&) {
          }
        }
  return false;
}

}  // namespace

TEST_CASE("the search finds the fewest GPUs that any split at all can do with") {
  const struct {
    const char *model, *device;
    Need need;
  } cases[] = {
      {"llama-3.1-70b", "h100-sxm", {{Tokens(8192), 64}, {}, {}}},
      {"llama-3.1-8b", "rtx-4090", {{Tokens(8192), 16}, 30.0, {}}},
      {"qwen3-30b-a3b", "rtx-4090", {{Tokens(16384), 8}, {}, 400.0}},
      {"deepseek-v2-lite", "l40s", {{Tokens(32768), 32}, {}, {}}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.model);
    const Setup setup = setup_of(c.model, c.device);
    const LayoutSearch search = search_layouts(setup, c.need);
    REQUIRE(search.best);
    const std::int64_t gpus = search.best->layout.gpus();
    CHECK(any_meets(setup, c.need, gpus));
    for (const std::int64_t fewer : {1, 2, 3, 4, 6, 8})
      if (fewer < gpus) CHECK_FALSE(any_meets(setup, c.need, fewer));
    for (const LayoutRow& row : search.rows)
      if (row.layout.gpus() == gpus && row.meets() && row.verdict != LayoutRow::across_nodes)
        CHECK(row.tokens_per_second <= search.best->tokens_per_second);
  }
}

TEST_CASE("a load that nothing holds has no best layout, and rows that say what is missing") {
  const LayoutSearch search =
      search_layouts(setup_of("llama-3.1-405b", "rtx-4090"), {{Tokens(131072), 4096}, {}, {}});
  CHECK_FALSE(search.best);
  REQUIRE_FALSE(search.rows.empty());
  for (const LayoutRow& row : search.rows) CHECK_FALSE(row.meets());
}

TEST_CASE("a rate that no ceiling reaches is told apart from a cache that is too small") {
  const Setup setup = setup_of("llama-3.1-8b", "h100-sxm");
  const Parallelism one;
  CHECK(evaluate_layout(setup, one, {{Tokens(2048), 1}, 1e6, {}}).verdict == LayoutRow::too_slow);
  CHECK(evaluate_layout(setup, one, {{Tokens(131072), 64}, {}, {}}).verdict ==
        LayoutRow::few_users);
  CHECK(evaluate_layout(setup_of("llama-3.1-70b", "rtx-4090"), one, {{Tokens(1), 1}, {}, {}})
            .verdict == LayoutRow::no_room);
}

TEST_CASE("tensor parallelism beyond a node of eight is taken only where nothing else holds") {
  const LayoutSearch search =
      search_layouts(setup_of("llama-3.1-405b", "h100-sxm"), {{Tokens(8192), 16}, {}, {}});
  REQUIRE(search.best);
  CHECK(search.best->layout.gpus() > 8);
  CHECK(search.best->layout.tp <= 8);
}

TEST_CASE("llama.cpp spreads a model by layers, and only a model with experts divides experts") {
  const auto by_layers = layouts_of(setup_of("llama-3.1-8b", "rtx-4090", "llama.cpp"), 4);
  REQUIRE(by_layers.size() == 1);
  CHECK(by_layers[0].pp == 4);
  for (const Parallelism& p : layouts_of(setup_of("llama-3.1-8b", "rtx-4090"), 8)) CHECK(p.ep == 1);
  const auto with_experts = layouts_of(setup_of("qwen3-30b-a3b", "rtx-4090"), 4);
  CHECK(std::any_of(with_experts.begin(), with_experts.end(),
                    [](const Parallelism& p) { return p.dp == 4 && p.ep == 4; }));
}
