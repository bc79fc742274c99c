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

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  const auto rules = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const Rules& r) { return r.engine == options.name; });
  if (rules == kRules.end())
    throw Error("how " + options.name + " allocates is not known").of("--engine");
  check_settings(options);
  return rules->make(options, model, deployment);
}

}  // namespace kvplan
