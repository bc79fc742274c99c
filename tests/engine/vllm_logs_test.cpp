// SPDX-License-Identifier: Apache-2.0
// tests/truth/engine_vllm.yaml: what vLLM printed at start-up, from the KV memory that it printed.
// Memory is printed to 0.01 GiB: the logged value lies between those of both ends of the rounding.
// Where the block count is known too, everything is equal to the digit.
#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <vector>

#include "engine/options.h"
#include "engine/vllm.h"
#include "engine/vllm_models.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

struct Log {
  YAML::Node row;
  std::unique_ptr<Engine> engine;
  Tokens length;
  Bytes block;  // bytes of one block of the pool

  template <class T>
  std::optional<T> get(const char* key) const {
    return row[key] ? std::optional(row[key].as<T>()) : std::nullopt;
  }
  Capacity at(Bytes pool) const { return engine->capacity(pool, length); }
};

std::map<std::string, std::string> shape_of(const YAML::Node& row) {
  if (!row["draft_shape"]) return {};
  return row["draft_shape"].as<std::map<std::string, std::string>>();
}

EngineOptions options_of(const YAML::Node& row) {
  EngineOptions options = engine_options("vllm");
  options.version = row["version"].as<std::string>();
  const auto set = [&](const char* flag, const char* key) {
    if (row[key]) options.settings[flag] = row[key].as<std::string>();
  };
  set("enable_prefix_caching", "caching");
  set("max_num_batched_tokens", "batched");
  set("speculative_config.method", "method");
  set("speculative_config.num_speculative_tokens", "draft");
  for (const auto& [key, value] : shape_of(row))
    options.settings["speculative_config.draft_model_config.hf_config." + key] = value;
  if (row["method"] && row["method"].as<std::string>() == "extract_hidden_states")
    options.settings
        ["speculative_config.draft_model_config.hf_config."
         "eagle_aux_hidden_state_layer_ids"] = "[1]";
  return options;
}

Log read(const YAML::Node& row) {
  const ModelSpec model = shape_named(row["model"].as<std::string>());
  Deployment deployment;
  deployment.parallel.tp = row["tp"].as<std::int64_t>(1);
  deployment.parallel.pp = row["pp"].as<std::int64_t>(1);
  deployment.parallel.dcp = row["dcp"].as<std::int64_t>(1);
  deployment.cache = cache_formats(row["kv"].as<std::string>());
  EngineOptions options = options_of(row);
  const Tokens length(row["length"].as<std::int64_t>(model.max_context->n));
  options.max_model_len = length;
  Log log{row, make_vllm(options, model, deployment), length, {}};
  const Bytes huge(INT64_MAX / 4);
  log.block = Bytes(huge.n / log.at(huge).blocks.value());
  return log;
}

std::vector<Log> logs() {
  std::vector<Log> all;
  for (const YAML::Node& row : YAML::LoadFile(KVPLAN_SOURCE_DIR "/tests/truth/engine_vllm.yaml"))
    all.push_back(read(row));
  return all;
}

template <class T>
void check_between(std::optional<T> low, std::optional<T> logged, std::optional<T> high,
                   T slack = {}) {
  if (!logged) return;
  CHECK(low.value() <= *logged + slack);
  CHECK(*logged <= high.value() + slack);
}

std::optional<std::int64_t> count(std::optional<Tokens> t) {
  return t ? std::optional(t->n) : std::nullopt;
}

void check(const Log& log) {
  const auto gib = log.get<double>("pool_gib");
  const auto blocks = log.get<std::int64_t>("blocks");
  const auto pool = [&](double off) {
    return gib ? Bytes(static_cast<std::int64_t>((*gib + off) * static_cast<double>(kGiB)))
               : log.block * blocks.value_or(1);
  };
  const Capacity low = log.at(pool(-0.005)), high = log.at(pool(+0.005));
  check_between(low.kv_tokens, log.get<std::int64_t>("tokens"), high.kv_tokens);
  check_between(low.blocks, blocks, high.blocks);
  check_between(low.max_concurrency, log.get<double>("concurrency"), high.max_concurrency, 0.006);
  check_between(count(low.max_context), log.get<std::int64_t>("longest"), count(high.max_context));
  check_between(low.block_tokens, log.get<std::int64_t>("block"), high.block_tokens);
  if (const auto swapped = log.get<std::int64_t>("cpu_blocks"))
    CHECK(Bytes(4 * kGiB) / log.block == *swapped);
}

}  // namespace

TEST_CASE("vLLM's printed tokens, concurrency and blocks are reproduced from its printed memory") {
  for (const Log& log : logs()) {
    CAPTURE(log.row["source"].as<std::string>());
    CAPTURE(log.row["model"].as<std::string>());
    check(log);
  }
}

TEST_CASE("with the logged block count vLLM's printed tokens come out to the digit") {
  int counted = 0;
  for (const Log& log : logs()) {
    const auto blocks = log.get<std::int64_t>("blocks");
    const auto tokens = log.get<std::int64_t>("tokens");
    if (!blocks || !tokens) continue;
    CAPTURE(log.row["source"].as<std::string>());
    CAPTURE(log.row["model"].as<std::string>());
    const Capacity c = log.at(log.block * *blocks);
    CHECK(c.blocks == blocks);
    CHECK(c.kv_tokens.value() == *tokens);
    if (const auto times = log.get<double>("concurrency"))
      CHECK(std::abs(c.max_concurrency.value() - *times) < 0.006);
    ++counted;
  }
  CHECK(counted == 41);
}
