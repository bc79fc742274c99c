// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <array>

#include "engine/flags.h"
#include "engine/ideal.h"
#include "engine/llamacpp.h"
#include "engine/sglang.h"
#include "engine/trtllm.h"
#include "engine/vllm.h"

namespace kvplan {
namespace {

using Make = std::unique_ptr<Engine> (*)(const EngineOptions&, const ModelSpec&, const Deployment&);

struct Rules {
  std::string_view engine;
  Make make;
};
constexpr std::array kRules = {
    Rules{"ideal", make_ideal},   Rules{"vllm", make_vllm},          Rules{"sglang", make_sglang},
    Rules{"trtllm", make_trtllm}, Rules{"llama.cpp", make_llamacpp}, Rules{"ollama", make_ollama},
};

bool is_ggml_block(const Format& f) { return f.name.starts_with("q") || f.name.starts_with("iq"); }

// Caches in ggml's blocks are those of llama.cpp and Ollama, which say themselves what they take.
void check_cache(const EngineOptions& options, const CacheFormats& cache) {
  if (options.name != "vllm" && options.name != "sglang" && options.name != "trtllm") return;
  for (const Format* format : {cache.key, cache.value})
    if (format && is_ggml_block(*format))
      throw Error(options.name + " has no cache in " + std::string(format->name))
          .of("--kv")
          .advise("Use bf16 or fp8, or --engine llama.cpp.");
}

// Formats of vLLM's cache that came after 16 and 8 bits, and those that it has not got: CacheDType
// in vllm/config/cache.py of 0.11.2, 0.20.2, 0.26.0 and 0.33.0.
struct CacheSince {
  std::string_view format;
  std::optional<Version> version;
};
const std::array kCachesOfVllm = {
    CacheSince{"nvfp4", Version{0, 12}},    CacheSince{"int8-head", Version{0, 12}},
    CacheSince{"fp8-head", Version{0, 12}}, CacheSince{"int4-head", Version{0, 21}},
    CacheSince{"fp4", std::nullopt},        CacheSince{"int4", std::nullopt}};

void check_cache_of_vllm(const EngineOptions& options, const CacheFormats& cache) {
  if (options.name != "vllm") return;
  const Version version = site_of(options).version;
  for (const CacheSince& known : kCachesOfVllm)
    for (const Format* format : {cache.key, cache.value}) {
      if (!format || format->name != known.format) continue;
      if (known.version && *known.version <= version) continue;
      throw Error(
          (known.version ? "this version of vLLM has no cache in " : "vLLM has no cache in ") +
          std::string(format->name))
          .of("--kv")
          .advise("Use bf16 or fp8, or nvfp4 with a newer version.");
    }
}

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  const auto rules = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const Rules& r) { return r.engine == options.name; });
  if (rules == kRules.end())
    throw Error("how " + options.name + " allocates is not known").of("--engine");
  check_settings(options);
  check_cache(options, deployment.cache);
  check_cache_of_vllm(options, deployment.cache);
  return rules->make(options, model, deployment);
}

}  // namespace kvplan
