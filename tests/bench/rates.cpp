// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "bench/bench.h"
#include "catalog/catalog.h"
#include "cost/decode.h"
#include "engine/flags.h"

namespace kvplan::bench {
namespace {

// The optimiser must believe that a result is used.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

constexpr const char* kModels[] = {"llama-3.1-8b", "deepseek-v3", "gemma-3-27b",
                                   "qwen3-next-80b-a3b"};

Deployment on_eight() {
  Deployment d;
  d.parallel.tp = 8;
  d.cache = cache_formats("bf16");
  return d;
}

}  // namespace

// Distinct loads, nothing remembered between them, nothing rendered.
std::vector<Result> decode_rows() {
  const Catalog catalog;
  const DeviceSpec device = catalog.device("h100-sxm");
  std::vector<Result> results;
  for (const char* name : kModels) {
    const DecodeModel model(catalog.model(name), on_eight(), device);
    const double rows = rate([&](std::int64_t i) {
      keep(model.at(Tokens(1 + i * 97 % 131072), 1 + i * 31 % 512).seconds->v);
    });
    results.push_back({std::string("decode rows, ") + name, rows, 1e6, "/s", true});
  }
  return results;
}

// A plan: the budget of a GPU, what the pool holds, and the bytes of one load.
std::vector<Result> engine_plans() {
  const Catalog catalog;
  const DeviceSpec device = catalog.device("h100-sxm");
  std::vector<Result> results;
  constexpr std::pair<const char*, const char*> kPlans[] = {
      {"vllm", "llama-3.1-8b"},    {"vllm", "qwen3-next-80b-a3b"}, {"sglang", "llama-3.1-8b"},
      {"trtllm", "llama-3.1-8b"},  {"llama.cpp", "llama-3.1-8b"},  {"vllm", "deepseek-v3"},
      {"llama.cpp", "gemma-3-27b"}};
  for (const auto& [engine_name, name] : kPlans) {
    EngineOptions options = parse_engine(engine_name, catalog.engines());
    options.device = device;
    const auto engine = make_engine(options, catalog.model(name), on_eight());
    const double plans = rate([&](std::int64_t i) {
      const Budget budget = engine->budget(device);
      keep(engine->capacity(budget.kv_pool.value - Bytes(i % 4096), Tokens(1024 + i % 32768))
               .kv_tokens);
      keep(engine->reserved(Tokens(1 + i * 97 % 131072), 1 + i % 64).n);
    });
    results.push_back({std::string(engine_name) + " plans, " + name, plans, 200e3, "/s", true});
  }
  return results;
}

}  // namespace kvplan::bench
