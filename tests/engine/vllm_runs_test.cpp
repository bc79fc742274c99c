// SPDX-License-Identifier: Apache-2.0
// tests/truth/engine_vllm_runs.yaml: vLLM's own cache planner, run on a CPU with 24 GiB per GPU.
#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

#include <map>

#include "catalog/catalog.h"
#include "engine/options.h"

using namespace kvplan;

namespace {

struct Run {
  YAML::Node row;
  Capacity capacity;
};

EngineOptions options_of(const Catalog& catalog, const YAML::Node& row) {
  EngineOptions options = test::engine_options("vllm@0.33.0");
  options.device = catalog.device(row["device"].as<std::string>());
  if (row["set"]) options.settings = row["set"].as<std::map<std::string, std::string>>();
  return options;
}

Run run(const Catalog& catalog, const YAML::Node& row) {
  const ModelSpec model = catalog.model(row["model"].as<std::string>());
  Deployment deployment;
  deployment.parallel.tp = row["tp"].as<std::int64_t>(1);
  deployment.parallel.pp = row["pp"].as<std::int64_t>(1);
  deployment.cache = cache_formats(row["kv"].as<std::string>("bf16"));
  EngineOptions options = options_of(catalog, row);
  const Tokens length(row["length"].as<std::int64_t>());
  options.max_model_len = length;
  return {row, make_engine(options, model, deployment)->capacity(Bytes(24 * kGiB), length)};
}

void check(const Run& run) {
  CAPTURE(run.row["model"].as<std::string>());
  CAPTURE(YAML::Dump(run.row));
  const Capacity& c = run.capacity;
  if (const YAML::Node longest = run.row["longest"]) {
    CHECK(c.max_context.value().n == longest.as<std::int64_t>());
    return;
  }
  CHECK(c.blocks.value() == run.row["blocks"].as<std::int64_t>());
  CHECK(c.kv_tokens.value() == run.row["tokens"].as<std::int64_t>());
  CHECK(c.max_concurrency.value() ==
        doctest::Approx(run.row["concurrency"].as<double>()).epsilon(1e-6));
}

}  // namespace

TEST_CASE("vLLM's own planner gives the same blocks, tokens and concurrency") {
  const Catalog catalog;
  int rows = 0;
  for (const YAML::Node& row :
       YAML::LoadFile(KVPLAN_SOURCE_DIR "/tests/truth/engine_vllm_runs.yaml")) {
    check(run(catalog, row));
    ++rows;
  }
  CHECK(rows > 40);
}
