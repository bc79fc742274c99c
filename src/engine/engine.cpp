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

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  const auto rules = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const Rules& r) { return r.engine == options.name; });
  if (rules == kRules.end())
    throw Error("how " + options.name + " allocates is not known").of("--engine");
  check_settings(options);
  check_cache(options, deployment.cache);
  return rules->make(options, model, deployment);
}

}  // namespace kvplan
