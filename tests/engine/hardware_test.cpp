// SPDX-License-Identifier: Apache-2.0
// Which devices engines run on, as their documentation says (sources stand in configs/engines).
#include "engine/hardware.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/flags.h"

using namespace kvplan;

namespace {

bool runs(const char* engine, const char* device) {
  const Catalog catalog("");
  return runs_on(parse_engine(engine, catalog.engines()), catalog.device(device));
}

}  // namespace

TEST_CASE("an engine's releases run on GPUs from a compute capability on, by version") {
  CHECK(runs("vllm", "t4"));
  CHECK_FALSE(runs("vllm", "p40"));
  CHECK_FALSE(runs("vllm", "v100-sxm2-32gb"));  // built for CUDA 13 since vllm#39878
  CHECK(runs("vllm@0.14", "v100-sxm2-32gb"));
  CHECK(runs("sglang@0.4.6", "t4"));
  CHECK_FALSE(runs("sglang", "t4"));  // sglang#6006
  CHECK(runs("trtllm", "a100-sxm-80gb"));
  CHECK(runs("llama.cpp", "p40"));
}

TEST_CASE("an engine runs on the AMD parts that it is built for") {
  CHECK(runs("vllm", "mi300x"));
  CHECK(runs("vllm", "rx-7900-xtx"));
  CHECK_FALSE(runs("vllm", "mi100"));
  CHECK_FALSE(runs("sglang", "rx-7900-xtx"));
  CHECK_FALSE(runs("trtllm", "mi300x"));
}

TEST_CASE("an engine does not run on a vendor's devices that its file does not name") {
  CHECK_FALSE(runs("vllm", "m3-ultra-80c"));
  CHECK_FALSE(runs("llama.cpp", "tpu-v5e"));
  CHECK(runs("ideal", "tpu-v5e"));
}

TEST_CASE("what is not known of a device excludes it from no engine") {
  const Catalog catalog("");
  DeviceSpec device = catalog.device("p40");
  device.compute_capability.reset();
  CHECK(runs_on(parse_engine("vllm", catalog.engines()), device));
  device.vendor.clear();
  CHECK(runs_on(parse_engine("trtllm", catalog.engines()), device));
}

TEST_CASE("every device of the catalog has an engine that runs on it") {
  const Catalog catalog("");
  for (const CatalogEntry& entry : catalog.entries("devices")) {
    CAPTURE(entry.name);
    const DeviceSpec device = catalog.device(entry.name);
    int engines = 0;
    for (const char* engine : {"vllm", "sglang", "trtllm", "llama.cpp", "ollama"})
      engines += runs_on(parse_engine(engine, catalog.engines()), device);
    CHECK(engines > 0);
  }
}
