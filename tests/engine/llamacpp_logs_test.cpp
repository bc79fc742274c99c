// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "engine/logged_shape.h"
#include "engine/shapes.h"

using namespace kvplan;
using namespace kvplan::test;

// Not among the rows: gpt-oss-20b with eight slots (public log), whose sliding cache of 512 cells
// needs a micro-batch that was not logged; GLM-4.5-Air counted with 46 layers (the same log is
// reproduced with 47, the draft layer included); a fork's tq3_0 cache, whose layout is not public.
TEST_CASE("caches that llama.cpp and its forks printed come out to the printed digit") {
  const auto rows = truth_rows("engine_llamacpp.yaml");
  REQUIRE(rows.size() == 101);
  for (const Node& row : rows) {
    CAPTURE(row.line);
    CAPTURE(text_at(row, "model"));
    Deployment deployment;
    deployment.cache = cache_formats(text_at(row, "kv"));
    const auto engine = make_engine(options_at(row, "llama.cpp"), model_at(row), deployment);
    const double mib = engine->reserved_total(Tokens(1), 1).real() / static_cast<double>(kMiB);
    // Sums of two or three sizes that were each printed to 0.01 MiB.
    CHECK(std::abs(mib - row.find("printed_mib")->number().value()) <= 0.0101);
  }
}
