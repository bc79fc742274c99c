// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <array>

#include "engine/flags.h"
#include "engine/ideal.h"
#include "engine/llamacpp.h"
#include "engine/sglang.h"
#include "engine/trtllm.h"
#include "engine/version.h"
#include "engine/vllm.h"
#include "nearest.h"

namespace kvplan {
namespace {

using Make = std::unique_ptr<Engine> (*)(const EngineOptions&, const ModelSpec&, const Deployment&);

struct Known {
  std::string_view name;
  std::string_view aliases;  // with a space between, in lower case
  Make make;
};

constexpr std::array kEngines = {
    Known{"ideal", "none", make_ideal},
    Known{"vllm", "", make_vllm},
    Known{"sglang", "sgl sgl-project", make_sglang},
    Known{"trtllm", "tensorrt-llm trt-llm tensorrtllm tensorrt trtllm-serve trt", make_trtllm},
    Known{"llama.cpp", "llamacpp llama-cpp llama_cpp llama-server llama.c++ gguf", make_llamacpp},
    Known{"ollama", "", make_ollama},
};

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_among(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find(' '));
    if (first == word) return true;
    words.remove_prefix(std::min(words.size(), first.size() + 1));
  }
  return false;
}

const Known& known_engine(std::string_view spelling) {
  const std::string name = lowered(spelling);
  std::vector<std::string> names;
  for (const Known& engine : kEngines) {
    if (engine.name == name || is_among(name, engine.aliases)) return engine;
    names.emplace_back(engine.name);
  }
  const std::string hint = did_you_mean(spelling, names);
  std::string all = "Known are";
  for (const std::string& known : names) all += (known == names.front() ? " " : ", ") + known;
  throw Error("unknown engine '" + std::string(spelling.substr(0, 64)) + "'")
      .of("--engine")
      .advise(hint.empty() ? all + "." : hint);
}

}  // namespace

std::vector<std::string_view> engine_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kEngines));
  for (const Known& engine : kEngines) names.push_back(engine.name);
  return names;
}

std::string_view engine_named(std::string_view spelling) { return known_engine(spelling).name; }

EngineOptions parse_engine(std::string_view name_at_version) {
  const auto at = name_at_version.find('@');
  EngineOptions options;
  options.name = engine_named(name_at_version.substr(0, at));
  if (at == std::string_view::npos) return options;
  options.version = name_at_version.substr(at + 1);
  if (options.name == "ideal")
    throw Error("the ideal has no versions").of("--engine").advise("Write --engine ideal.");
  parse_version(options.version);
  return options;
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options, const ModelSpec& model,
                                    const Deployment& deployment) {
  const Known& engine = known_engine(options.name);
  check_settings(options);
  return engine.make(options, model, deployment);
}

}  // namespace kvplan
