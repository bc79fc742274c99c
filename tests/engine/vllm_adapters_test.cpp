// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/adapters.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/options.h"
#include "engine/vllm/weights.h"
#include "model/recipe.h"

using namespace kvplan;
using namespace kvplan::test;
using namespace kvplan::vllm;

namespace {

struct Loaded {
  double weights = 0, adapters = 0;  // GiB of one rank
};

// 16 slots of rank 32 on four ranks, as in vllm#28761.
Loaded loaded(const ModelSpec& model, bool sharded) {
  const EngineOptions options =
      engine_options("vllm@0.12", {{"max_loras", "16"},
                                   {"max_lora_rank", "32"},
                                   {"fully_sharded_loras", sharded ? "true" : "false"}});
  Parallelism parallel;
  parallel.tp = 4;
  const Rules rules = rules_of(site_of(options).version);
  const Serving serving = serving_of(options, rules, model, parallel);
  const Served served{model, parallel, rules, serving, Tokens(0)};
  const auto gib = [](Bytes bytes) { return bytes.real() / static_cast<double>(kGiB); };
  return {gib(rank_weights(served).value), gib(adapter_line(served).value)};
}

ModelSpec qwen() {
  ModelSpec model = apply_recipe(Catalog().model("qwen3-30b-a3b"), "bf16");
  model.max_context = Tokens(262144);  // Qwen3-Coder's
  return model;
}

}  // namespace

TEST_CASE("a model with LoRA slots loads what vLLM printed, with both matrices sharded") {
  const Loaded sharded = loaded(qwen(), true);
  CHECK(sharded.weights + sharded.adapters == doctest::Approx(26.9761).epsilon(0.001));
}

TEST_CASE("sharding the experts' adapters saves what vLLM printed") {
  ModelSpec experts = qwen();  // 53.9761 GiB before, the other layers alike
  for (Layer& layer : experts.layers)
    std::erase_if(layer.weights, [](const Weight& w) { return w.role != Role::routed_expert; });
  CHECK(loaded(experts, false).adapters - loaded(experts, true).adapters ==
        doctest::Approx(27).epsilon(1e-5));
}

TEST_CASE("slots take memory only where they are asked for") {
  const ModelSpec model = qwen();
  const EngineOptions options = engine_options("vllm");
  const Rules rules = rules_of(site_of(options).version);
  const Serving serving = serving_of(options, rules, model, {});
  CHECK(adapter_line({model, {}, rules, serving, Tokens(0)}).high == Bytes(0));
}
