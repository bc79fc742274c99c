// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/command_line.h"
#include "engine/flags.h"
#include "engine/nested.h"
#include "engine/shell.h"

namespace kvplan {
namespace {

using Settings = std::map<std::string, std::string>;

// What an engine calls kv-plan's cache formats where it calls them otherwise.
struct FormatName {
  std::string_view engine, ours, theirs;
};
constexpr std::array kFormatNames = {
    FormatName{"sglang", "fp8", "fp8_e4m3"}, FormatName{"sglang", "fp8_ds_mla", "fp8_e4m3"},
    FormatName{"llama.cpp", "fp16", "f16"},  FormatName{"llama.cpp", "fp32", "f32"},
    FormatName{"ollama", "fp16", "f16"},
};
std::string format_name(std::string_view engine, std::string_view ours) {
  for (const FormatName& n : kFormatNames)
    if (n.engine == engine && n.ours == ours) return std::string(n.theirs);
  return std::string(ours);
}

// The format that an engine takes by itself for a 16-bit model.
bool is_default_format(std::string_view engine, const CacheFormats& cache) {
  if (!cache.key || !cache.value) return true;
  const auto is = [&](std::string_view name) {
    return cache.key->name == name && cache.value->name == name;
  };
  return is("fp16") || (is("bf16") && engine != "llama.cpp" && engine != "ollama");
}

std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Replicas of attention that share one set of experts. SGLang and TensorRT-LLM call it attention
// data parallelism and count all of its ranks as tensor-parallel ones.
bool spreads_attention(const EngineOptions& options, const Parallelism& p) {
  return p.dp > 1 && p.ep > 1 && (options.name == "sglang" || options.name == "trtllm");
}
Parallelism as_flagged(const EngineOptions& options, Parallelism p) {
  if (spreads_attention(options, p)) p.tp = checked_mul(p.tp, p.dp);
  return p;
}

// What the deployment says, by kv-plan's options.
std::map<std::string, std::string> common_options(const EngineOptions& options,
                                                  const Deployment& deployment,
                                                  const Serve& serve) {
  const Parallelism p = as_flagged(options, deployment.parallel);
  std::map<std::string, std::string> said;
  for (const auto& [option, n] :
       {std::pair{"--tp", p.tp}, {"--pp", p.pp}, {"--dp", p.dp}, {"--ep", p.ep}, {"--dcp", p.dcp}})
    if (n > 1) said[option] = std::to_string(n);
  const auto length = options.max_model_len ? options.max_model_len : serve.context;
  if (length) said["--max-model-len"] = std::to_string(length->n);
  if (options.utilization) said["--utilization"] = shortest(*options.utilization);
  if (!serve.quantization.empty()) said["--weights"] = serve.quantization;
  if (options.kv_pool) said["--kv-pool"] = std::to_string(options.kv_pool->n);
  if (!is_default_format(options.name, deployment.cache))
    said["--kv"] =
        format_name(options.name, deployment.cache.key->name == deployment.cache.value->name
                                      ? std::string_view(deployment.cache.name)
                                      : deployment.cache.key->name);
  return said;
}

// All settings of the line: the user's, and those that options say too.
Settings all_settings(const EngineOptions& options, const Deployment& deployment,
                      const Serve& serve) {
  Settings all = options.settings;
  for (const auto& said : common_options(options, deployment, serve)) {
    const auto& flags = flags_of(options).flags;
    const auto flag = std::find_if(flags.begin(), flags.end(),
                                   [&](const EngineFlag& f) { return f.option == said.first; });
    if (flag != flags.end()) all.try_emplace(flag->name, said.second);
  }
  if (options.name == "vllm" && deployment.parallel.ep > 1)
    all.try_emplace("enable_expert_parallel", "true");
  if (options.name == "vllm" && (all.count("max_loras") || all.count("max_lora_rank")))
    all.try_emplace("enable_lora", "true");
  if (spreads_attention(options, deployment.parallel))
    all.try_emplace(options.name == "sglang" ? "enable_dp_attention" : "enable_attention_dp",
                    "true");
  if (options.name == "ollama" && serve.sequences > 1)
    all.try_emplace("num_parallel", std::to_string(serve.sequences));
  // Without flash attention it keeps values in 16 bits whatever is asked.
  if (options.name == "ollama" && deployment.cache.value &&
      deployment.cache.value->block_elements > 1)
    all.try_emplace("flash_attention", "1");
  if (options.name != "llama.cpp") return all;
  if (serve.context && !all.count("ctx_size")) {
    all["ctx_size"] = std::to_string(checked_mul(serve.context->n, serve.sequences));
    all.try_emplace("parallel", std::to_string(serve.sequences));
  }
  if (!is_default_format("llama.cpp", deployment.cache)) {
    all["cache_type_k"] = format_name("llama.cpp", deployment.cache.key->name);
    all["cache_type_v"] = format_name("llama.cpp", deployment.cache.value->name);
  }
  return all;
}

std::string spelled(std::string_view engine, std::string name) {
  if (engine != "trtllm") std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

bool is_on(const std::string& value) {
  return value.empty() || value == "true" || value == "True" || value == "1" || value == "on" ||
         value == "yes";
}

// trtllm-serve has no flag for these: they go by a file.
bool goes_by_file(const EngineOptions& options, const std::string& name) {
  return options.name == "trtllm" &&
         (name.find('.') != std::string::npos || name == "enable_attention_dp");
}

// The words of a list: "1,2,4" → " 1 2 4".
std::string words_of(std::string_view list) {
  std::string text;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    text += " " + shell_quoted(std::string(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return text;
}

std::string flags_text(const EngineOptions& options, const Settings& settings) {
  const EngineFlags& table = flags_of(options);
  std::map<std::string, Settings> nested;
  Settings file;
  std::string text;
  for (const auto& [name, value] : settings) {
    if (goes_by_file(options, name)) {
      file[name] = value;
      continue;
    }
    if (const auto dot = name.find('.'); dot != std::string::npos) {
      nested[name.substr(0, dot)][name.substr(dot + 1)] = value;
      continue;
    }
    const EngineFlag* flag = table.find(name);
    if (flag && flag->kind == EngineFlag::toggle)
      text += " " + spelled(options.name, is_on(value) ? name : "no_" + name);
    else if (flag && flag->kind == EngineFlag::list)
      text += " " + spelled(options.name, name) + words_of(value);
    else
      text += " " + spelled(options.name, name) + (value.empty() ? "" : " " + shell_quoted(value));
  }
  for (const auto& [name, inner] : nested)
    text += " " + spelled(options.name, name) + " " + shell_quoted(json_of_settings(inner));
  if (file.empty()) return text;
  return text + " --extra_llm_api_options <(echo " + shell_quoted(json_of_settings(file)) + ")";
}

std::string environment_text(const EngineOptions& options, const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings)
    if (const EngineFlag* flag = flags_of(options).find(name); flag && !flag->spellings.empty())
      text += flag->spellings.front() + "=" + shell_quoted(value) + " ";
  return text;
}

}  // namespace

std::string command_line(const EngineOptions& options, const Deployment& deployment,
                         const Serve& serve) {
  if (options.name == "ideal") return {};
  const Settings settings = all_settings(options, deployment, serve);
  const std::string model = shell_quoted(serve.model);
  if (options.name == "ollama") {
    const bool has_tag = serve.model.find(':') != std::string::npos;
    return environment_text(options, settings) + "ollama serve" +
           (has_tag ? " & ollama run " + model : "");
  }
  const std::string flags = flags_text(options, settings);
  if (options.name == "vllm") return "vllm serve " + model + flags;
  if (options.name == "sglang")
    return "python -m sglang.launch_server --model-path " + model + flags;
  if (options.name == "trtllm") return "trtllm-serve " + model + flags;
  return "llama-server " + std::string(serve.model.ends_with(".gguf") ? "-m " : "-hf ") + model +
         flags;
}

}  // namespace kvplan
