// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_choice.h"

#include <fmt/format.h>

#include <map>

#include "catalog/model_name.h"
#include "catalog/model_path.h"
#include "catalog/names.h"
#include "cli/local.h"
#include "cli/values.h"
#include "engine/command_line.h"
#include "engine/flags.h"
#include "engine/hardware.h"
#include "engine/settings.h"
#include "engine/version.h"

namespace kvplan {
namespace {

void warn_of_newer(Resolved& r) {
  const EngineOptions& engine = r.setup.engine;
  const std::string& newest = flags_of(engine).newest;
  if (engine.version.empty() || newest.empty()) return;
  if (parse_version(engine.version) > parse_version(newest))
    r.warnings.push_back({"newer-engine", engine.name + " " + engine.version +
                                              " is newer than the rules: those of " + newest +
                                              " are taken"});
}

std::string needed(const Hardware& line) {
  if (!line.at_least.empty()) return "compute capability " + line.at_least + " or higher";
  return fmt::format("one of {}", fmt::join(line.only, ", "));
}

void warn_of_hardware(Resolved& r) {
  const EngineOptions& engine = r.setup.engine;
  if (!r.setup.device || runs_on(engine, *r.setup.device)) return;
  const DeviceSpec& device = *r.setup.device;
  const std::string version = engine.version.empty() ? flags_of(engine).newest : engine.version,
                    named = engine.name + (version.empty() ? "" : " " + version);
  const Hardware* line = hardware_line(engine, device);
  r.warnings.push_back(
      {"engine-hardware",
       line ? fmt::format("{} needs {} ({}); {} has {}: it would not start there", named,
                          needed(*line), line->source, device.title, *device.compute_capability)
            : fmt::format("{} is not known to run on devices of {}: it would not start on {}",
                          named, device.vendor, device.title)});
}

// What common options say, by the engine's own names or by ours.
Request with_common_flags(Request request, EngineOptions& engine) {
  const std::pair<const char*, std::optional<std::int64_t> Request::*> numbers[] = {
      {"--tp", &Request::tp},
      {"--pp", &Request::pp},
      {"--dp", &Request::dp},
      {"--ep", &Request::ep},
      {"--dcp", &Request::dcp}};
  std::map<std::string, std::string> typed;
  for (const auto& [option, member] : numbers)
    if (request.*member) typed.emplace(option, std::to_string(*(request.*member)));
  if (request.kv) typed.emplace("--kv", *request.kv);
  if (request.max_model_len)
    typed.emplace("--max-model-len", std::to_string(request.max_model_len->n));
  const auto taken = take_common_options(engine, typed);
  const auto said = [&](const char* option) {
    const auto at = taken.find(option);
    return at == taken.end() ? std::nullopt : std::optional(at->second);
  };
  for (const auto& [option, member] : numbers)
    if (const auto text = said(option)) request.*member = count_of(*text);
  if (const auto text = said("--kv")) request.kv = text;
  if (const auto text = said("--weights"); text == "fp8" && !request.weights)
    request.weights = text;
  if (const auto text = said("--max-model-len")) engine.max_model_len = Tokens(count_of(*text));
  if (const auto text = said("--utilization")) engine.utilization = share_of(*text);
  return request;
}

// Switches of engines that spread experts, or attention too, over all ranks of a stage. SGLang and
// TensorRT-LLM then count in tp what are tp x dp ranks here.
Request spread_over_ranks(Request request, const Resolved& r) {
  const Settings settings(r.setup.engine);
  const bool experts = has_experts(r.as_read);
  const auto on = [&](const char* key) { return settings.boolean(key).value_or(false); };
  const std::int64_t tp = request.tp.value_or(1), dp = request.dp.value_or(1);
  const std::string& engine = r.setup.engine.name;
  if (engine == "vllm" && on("enable_expert_parallel") && experts && !request.ep)
    request.ep = checked_mul(tp, dp);
  const bool sglang = engine == "sglang" && on("enable_dp_attention") && dp > 1 && tp % dp == 0;
  const bool trtllm = engine == "trtllm" && on("enable_attention_dp") && tp > 1 && dp == 1;
  if (!sglang && !trtllm) return request;
  request.dp = sglang ? dp : tp;
  request.tp = sglang ? tp / dp : 1;
  if (experts && !request.ep) request.ep = tp;
  return request;
}

}  // namespace

std::string_view usual_engine(const Request& request, const Catalog& catalog) {
  const bool is_path = looks_like_path(request.model);
  const TypedModel typed = is_path ? TypedModel{} : typed_model(request.model);
  const bool gguf = request.weights ? is_gguf_recipe(*request.weights) : typed.is_gguf;
  if (typed.is_tag && (gguf || !request.weights)) return "ollama";
  if (gguf || request.model.ends_with(".gguf")) return "llama.cpp";
  if (!request.device || request.engine || request.engine_command) return "vllm";
  const DeviceSpec device = device_named(catalog, catalog.counted(*request.device).name);
  const bool served =
      device.kind != "cpu" && runs_on(parse_engine("vllm", catalog.engines()), device);
  return served ? "vllm" : "llama.cpp";
}

void choose_engine(const Request& request, Resolved& r, const Catalog& catalog,
                   std::string_view default_engine) {
  EngineOptions& engine = r.setup.engine;
  if (request.engine && request.engine_command)
    throw Error("said twice").of("--engine and --engine-command").advise("Leave one of them out.");
  if (request.engine_command) {
    EngineCommand command = parse_command(*request.engine_command, catalog.engines());
    engine = std::move(command.options);
    r.warnings.insert(r.warnings.end(), command.warnings.begin(), command.warnings.end());
  } else if (request.engine)
    engine = parse_engine(*request.engine, catalog.engines());
  else if (!default_engine.empty())
    engine = parse_engine(default_engine, catalog.engines());
  if (!request.engine && !request.engine_command)
    note(r, "--engine", engine.name, Basis::assumed,
         engine.name == "ideal" ? "what the mathematics needs; name an engine for what it reserves"
                                : "the usual engine for such weights and devices");
  for (const auto& [key, setting] : request.set) {
    if (const auto [at, fresh] = engine.settings.emplace(key, setting);
        !fresh && at->second != setting)
      throw Error("said twice and differently: " + at->second + " and " + setting)
          .of("--set " + key);
  }
  for (const auto& [key, setting] : engine.settings)
    if (const EngineFlag* flag = flags_of(engine).find(key); flag && !flag->remark.empty())
      r.warnings.push_back({"flag-remark", key + " " + flag->remark});
  engine.max_model_len = request.max_model_len;
  engine.utilization = request.utilization;
  engine.kv_pool = request.kv_pool;
  engine.reserve = request.reserve;
  warn_of_newer(r);
  warn_of_hardware(r);
}

Request with_engine_flags(Request request, Resolved& r) {
  return spread_over_ranks(with_common_flags(std::move(request), r.setup.engine), r);
}

void note_engine_defaults(Resolved& r) {
  const EngineOptions& engine = r.setup.engine;
  if (!r.setup.device || engine.kv_pool) return;
  const Parallelism& p = r.setup.deployment.parallel;
  const Site site = site_of(engine, p.ep > 1 ? checked_mul(p.tp, p.dp) : p.tp);
  for (const EngineFlag& flag : flags_of(engine).flags) {
    const bool said = engine.settings.count(flag.name) > 0 ||
                      (flag.option == "--utilization" && engine.utilization);
    const EngineFlag::Default* own = flag.assumed && !said ? flag.default_at(site) : nullptr;
    if (own) note(r, flag.name, own->value, Basis::engine_rule, own->source);
  }
}

}  // namespace kvplan
