// SPDX-License-Identifier: Apache-2.0
// Models of every architecture, small but for their keys, against the buffers that llama.cpp itself
// allocated for them, and buffers of the largest shapes.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "catalog/catalog.h"
#include "catalog/gguf_models.h"
#include "engine/logged_shape.h"
#include "engine/options.h"
#include "model/recipe.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

struct Run {
  std::map<std::string, std::string> settings;
  const char* cache;
};

// The settings behind the columns of the truth files.
const std::map<std::string, Run> kRuns = {
    {"one", {{{"ctx_size", "4096"}, {"parallel", "1"}}, "f16"}},
    {"three", {{{"ctx_size", "5000"}, {"parallel", "3"}}, "f16"}},
    {"four_unified", {{{"ctx_size", "8192"}, {"parallel", "4"}, {"kv_unified", "true"}}, "f16"}},
    {"no_flash", {{{"ctx_size", "4096"}, {"parallel", "1"}, {"flash_attn", "off"}}, "q8_0,f16"}},
    {"small_batch", {{{"ctx_size", "2100"}, {"parallel", "1"}, {"ubatch_size", "64"}}, "f16"}},
    {"long", {{{"ctx_size", "32768"}, {"parallel", "1"}}, "f16"}},
    {"no_flash_f16", {{{"ctx_size", "4096"}, {"parallel", "1"}, {"flash_attn", "off"}}, "f16"}},
    {"large_batch", {{{"ctx_size", "4096"}, {"parallel", "1"}, {"ubatch_size", "2048"}}, "f16"}},
};

std::unique_ptr<Engine> engine_of(const Run& run, const ModelSpec& model) {
  EngineOptions options = engine_options("llama.cpp");
  options.settings = run.settings;
  Deployment deployment;
  deployment.cache = cache_formats(run.cache);
  return make_engine(options, model, deployment);
}

const Catalog kCatalog;

double mebi(Bytes bytes) { return bytes.real() / static_cast<double>(kMiB); }

}  // namespace

TEST_CASE("caches of every architecture are those that llama.cpp allocates") {
  std::size_t compared = 0;
  for (const Node& row : truth_rows("llamacpp_caches.yaml")) {
    CAPTURE(text_at(row, "architecture"));
    const ModelSpec model = testing::read(testing::file_of(row));
    for (const auto& [name, mib] : row.find("mib")->members) {
      CAPTURE(name);
      const auto engine = engine_of(kRuns.at(name), model);
      // Sums of so many sizes that were each printed to 0.01 MiB.
      const double tolerance = 0.0051 * static_cast<double>(integer_at(row, "parts", 3));
      CHECK(std::abs(mebi(engine->reserved_total(Tokens(1), 1)) - mib.number().value()) <
            tolerance);
      ++compared;
    }
  }
  CHECK(compared >= 500);
}

TEST_CASE("compute buffers hold what llama.cpp reserved on a CPU") {
  std::size_t exact = 0, compared = 0;
  for (const Node& row : truth_rows("llamacpp_compute.yaml")) {
    const std::string name = text_at(row, "model");
    CAPTURE(name);
    const ModelSpec model = apply_recipe(kCatalog.model(name), "q4_0");
    for (const auto& [run, node] : row.find("mib")->members) {
      CAPTURE(run);
      const double mib = node.number().value();
      const Budget budget = engine_of(kRuns.at(run), model)->budget(kCatalog.device("epyc-9654"));
      CHECK(mebi(budget.activation.low) <= mib);
      CHECK(mib <= mebi(budget.activation.high) + 0.01);
      exact += std::abs(mebi(budget.activation.value) - mib) < 0.1;
      ++compared;
    }
  }
  CHECK(compared >= 60);
  CHECK(exact * 10 >= compared * 6);  // six in ten to 0.1 MiB
}

TEST_CASE("weights of a file type take what llama.cpp's own quantiser makes of them") {
  std::size_t compared = 0;
  for (const Node& row : truth_rows("llamacpp_quantised.yaml")) {
    const std::string name = text_at(row, "model");
    CAPTURE(name);
    for (const auto& [type, node] : row.find("mib")->members) {
      CAPTURE(type);
      const ModelSpec model = apply_recipe(kCatalog.model(name), type);
      const Budget budget = engine_of(kRuns.at("one"), model)->budget(kCatalog.device("epyc-9654"));
      CHECK(std::abs(mebi(budget.weights.value) - node.number().value()) < 0.011);
      ++compared;
    }
  }
  CHECK(compared >= 200);
}
