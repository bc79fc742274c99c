// SPDX-License-Identifier: Apache-2.0
#include "engine/trtllm.h"

#include <doctest/doctest.h>

#include "engine/options.h"
#include "engine/shapes.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

std::unique_ptr<Engine> trtllm_of(const ModelSpec& model,
                                  std::map<std::string, std::string> settings = {},
                                  std::string version = {},
                                  const Deployment& deployment = on_gpus(1)) {
  EngineOptions options = engine_options("trtllm");
  options.version = std::move(version);
  options.settings = std::move(settings);
  return make_engine(options, model, deployment);
}

const ModelSpec kLlama7b = model_of({{32, attention(32, 128)}});  // 524,288 B per token

}  // namespace

TEST_CASE("tokens are cut and blocks rounded up") {
  // NVIDIA/TensorRT-LLM#2268: 21.89 GiB free, 0.9 of it, 64 tokens a block: 631 blocks.
  const Bytes pool(static_cast<std::int64_t>(0.9 * 21.89 * static_cast<double>(kGiB)));
  const Capacity c = trtllm_of(kLlama7b, {}, "0.13")->capacity(pool, Tokens(2048));
  CHECK(c.blocks == 631);
  CHECK(c.block_tokens == 64);
  CHECK(c.kv_tokens == 631 * 64);
}

TEST_CASE("allocations that TensorRT-LLM printed come out to the byte") {
  // NVIDIA/TensorRT-LLM#1400: 132,608 tokens; triton-inference-server/tensorrtllm_backend#361:
  // 35,584 tokens of 409,600 B (40 layers of 20 heads); both in whole blocks of 64.
  CHECK(trtllm_of(kLlama7b, {}, "0.8")->reserved(Tokens(132608), 1) == Bytes(69524783104));
  const ModelSpec other = model_of({{40, attention(20, 128)}});
  CHECK(trtllm_of(other, {}, "0.8")->reserved(Tokens(35584), 1) == Bytes(14575206400));
  // triton-inference-server/tutorials#150: 116,617 blocks of 32 are 3,731,744 tokens.
  const Capacity c = trtllm_of(kLlama7b)->capacity(Bytes(116617LL * 32 * 524288), Tokens(2051));
  CHECK(c.kv_tokens == 3731744);
}

TEST_CASE("a limit in tokens holds where it is the smaller") {
  const auto engine = trtllm_of(kLlama7b, {{"kv_cache_config.max_tokens", "10000"}});
  CHECK(engine->capacity(Bytes(100 * kGiB), Tokens(2048)).blocks == 313);
  CHECK(engine->capacity(Bytes(524288 * 100), Tokens(2048)).blocks == 4);
}

TEST_CASE("KV heads that the ranks do not divide are rounded up") {
  const ModelSpec model = model_of({{1, attention(4, 128)}});
  CHECK(trtllm_of(model, {{"kv_cache_config.tokens_per_block", "1"}}, {}, on_gpus(8))
            ->reserved(Tokens(1), 1) == Bytes(512));
  CHECK(trtllm_of(model, {{"enable_attention_dp", "true"}}, {}, on_gpus(4))
            ->reserved(Tokens(32), 4) == Bytes(32 * 4 * 512));
}

TEST_CASE("windows share the memory by what a full one takes") {
  // Two layers of 512 B a token: windows 128 and 1024, shares 1/9 and 8/9.
  const ModelSpec model = model_of({{2, attention(1, 128)}});
  const auto engine = trtllm_of(model, {{"kv_cache_config.max_attention_window", "128,1024"}});
  const Capacity c = engine->capacity(Bytes(9 * 512 * 3200), Tokens(1024));
  CHECK(c.blocks == 800);  // 8 x 3200 / 32
  CHECK(c.max_context == Tokens(1024));
  // One sequence of 1024: 1024 + 128 tokens.
  CHECK(engine->reserved(Tokens(1024), 1) == Bytes(1152 * 512));
  CHECK(engine->reserved(Tokens(64), 1) == Bytes(2 * 64 * 512));
  CHECK_THROWS_AS(trtllm_of(model, {{"kv_cache_config.max_attention_window", "128,x"}}), Error);
}

TEST_CASE("what is not known is refused, not guessed") {
  CHECK_THROWS_AS(trtllm_of(model_of({{1, gated_delta_net(16)}})), Error);
}

TEST_CASE("the pool is a share of what is free after the model") {
  DeviceSpec device;
  device.memory.value = Bytes(80 * kGiB);
  const Budget b = trtllm_of(kLlama7b)->budget(device);
  CHECK(b.utilization == 0.9);
  CHECK(b.memory == b.reserved.value + b.weights.value + b.activation.value + b.non_torch.value +
                        b.kv_pool.value);
  CHECK(b.kv_pool.low < b.kv_pool.value);
}
