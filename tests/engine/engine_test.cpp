// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <doctest/doctest.h>

#include "engine/options.h"
#include "engine/shapes.h"

using namespace kvplan;
using namespace kvplan::test;

TEST_CASE("an engine goes by its usual spellings") {
  CHECK(engine_options("llama-server").name == "llama.cpp");
  CHECK(engine_options("llamacpp").name == "llama.cpp");
  CHECK(engine_options("TensorRT-LLM").name == "trtllm");
  CHECK(engine_options("SGL").name == "sglang");
  CHECK(engine_options("vLLM").name == "vllm");
  CHECK(engine_options("ideal").name == "ideal");
}

TEST_CASE("an unknown engine is refused with the near miss") {
  try {
    engine_options("vlm");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.advice == "Did you mean vllm? `kv-plan engines` lists all.");
  }
  CHECK_THROWS_AS(engine_options(""), Error);
}

TEST_CASE("a version follows the name after @") {
  const EngineOptions options = engine_options("vllm@0.21");
  CHECK(options.name == "vllm");
  CHECK(options.version == "0.21");
  CHECK(engine_options("llama.cpp@b7079").version == "b7079");
  CHECK(engine_options("sglang").version.empty());
  CHECK_THROWS_AS(engine_options("vllm@soon"), Error);
  CHECK_THROWS_AS(engine_options("vllm@"), Error);
  CHECK_THROWS_AS(engine_options("ideal@1"), Error);
}

TEST_CASE("every engine answers for a plain model") {
  const ModelSpec model = model_of({{32, attention(8, 128)}});
  for (const CatalogEntry& entry : Catalog().entries("engines")) {
    const EngineOptions options = engine_options(entry.name);
    const auto engine = make_engine(options, model, on_gpus(1, "fp16"));
    CAPTURE(options.name);
    // 32 layers x 2 x 8 heads x 128 x 2 B x 4096 tokens = 512 MiB and whole blocks.
    CHECK(engine->reserved(Tokens(4096), 1) == Bytes(512 * kMiB));
    CHECK(engine->reserved(Tokens(4097), 1) > Bytes(512 * kMiB) - Bytes(1));
    CHECK(engine->reserved_total(Tokens(4096), 3) >= engine->reserved(Tokens(4096), 3));
  }
}

TEST_CASE("the ideal holds what the mathematics needs") {
  // LLaMA-7B's shape at 4096 tokens, batch 2, fp16: 4.295 GB (DESIGN: Shazeer 2019 and GQA papers).
  const ModelSpec model = model_of({{32, attention(32, 128)}});
  const auto engine = make_engine({}, model, on_gpus(1, "fp16"));
  CHECK(engine->reserved(Tokens(4096), 2) == Bytes(4294967296));
  CHECK(engine->capacity(Bytes(4294967296), Tokens(131072)).max_context == Tokens(8192));
  CHECK_FALSE(engine->capacity(Bytes(1), Tokens(131072)).max_context.has_value());
}

TEST_CASE("latents are held by every GPU of a tensor-parallel replica") {
  const auto engine = make_engine({}, model_of({{61, latent()}}), on_gpus(8));
  const Bytes per_gpu = engine->reserved(Tokens(1), 1);
  CHECK(per_gpu == Bytes(61 * 576 * 2));
  CHECK(engine->reserved_total(Tokens(1), 1) == per_gpu * 8);
}

TEST_CASE("the fullest pipeline stage sets what a GPU needs") {
  Deployment deployment = on_gpus(1);
  deployment.parallel.pp = 2;
  const auto engine = make_engine({}, model_of({{5, attention(1, 128)}}), deployment);
  CHECK(engine->reserved(Tokens(1), 1) == Bytes(3 * 512));
  CHECK(engine->reserved_total(Tokens(1), 1) == Bytes(5 * 512));
}

TEST_CASE("a budget is memory less what is kept free and the weights") {
  EngineOptions options;
  options.reserve = Bytes(2 * kGiB);
  DeviceSpec device;
  device.memory.value = Bytes(24 * kGiB);
  const auto engine = make_engine(options, model_of({{1, attention(1, 128)}}), on_gpus(1));
  CHECK(engine->budget(device).kv_pool.value == Bytes(22 * kGiB));
  CHECK(engine->budget(device).kv_pool.basis == Basis::exact);
}

TEST_CASE("a cache in ggml's blocks is refused by engines that have none") {
  const ModelSpec model = model_of({{32, attention(8, 128)}});
  for (const char* engine : {"vllm", "sglang", "trtllm"})
    for (const char* format : {"q8_0", "iq4_nl", "bf16,q4_0"}) {
      CAPTURE(engine);
      CAPTURE(format);
      Deployment d;
      d.cache = cache_formats(format);
      CHECK_THROWS_AS(make_engine(engine_options(engine), model, d), Error);
    }
  Deployment d;
  d.cache = cache_formats("q8_0");
  CHECK_NOTHROW(make_engine(engine_options("llama.cpp"), model, d));
}

TEST_CASE("vLLM keeps caches in 4 bits in those formats and versions that have them") {
  const ModelSpec model = model_of({{32, attention(8, 128)}});
  const auto keeps = [&](const char* engine, const char* format) {
    Deployment d;
    d.cache = cache_formats(format);
    try {
      make_engine(engine_options(engine), model, d);
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  CHECK(keeps("vllm", "nvfp4"));
  CHECK(keeps("vllm@0.20.2", "nvfp4"));
  CHECK_FALSE(keeps("vllm@0.11.2", "nvfp4"));
  CHECK(keeps("vllm@0.26.0", "int4_per_token_head"));
  CHECK_FALSE(keeps("vllm@0.20.2", "int4_per_token_head"));
  CHECK_FALSE(keeps("vllm", "fp4"));
  CHECK(keeps("vllm@0.11.2", "fp8"));
}
