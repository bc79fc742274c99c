// SPDX-License-Identifier: Apache-2.0
#include "cli/from_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/gguf.h"
#include "cli/words.h"
#include "engine/flags.h"
#include "nearest.h"

namespace kvplan {
namespace {

bool is_llama(std::string_view engine) { return engine == "llama.cpp" || engine == "ollama"; }

// Options of kv-plan that were typed, so that the log's flags of the same meaning go.
std::vector<std::string_view> typed_options(const Request& r) {
  std::vector<std::string_view> typed;
  const std::pair<bool, const char*> all[] = {{r.tp.has_value(), "--tp"},
                                              {r.pp.has_value(), "--pp"},
                                              {r.dp.has_value(), "--dp"},
                                              {r.ep.has_value(), "--ep"},
                                              {r.dcp.has_value(), "--dcp"},
                                              {r.kv.has_value(), "--kv"},
                                              {r.max_model_len.has_value(), "--max-model-len"},
                                              {r.utilization.has_value(), "--utilization"},
                                              {r.kv_pool.has_value(), "--kv-pool"}};
  for (const auto& [given, option] : all)
    if (given) typed.emplace_back(option);
  return typed;
}

bool contains(const std::vector<std::string_view>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string version_of(const StartLog& log) {
  return log.version.empty() ? log.version_hint : log.version;
}

void take_engine(Request& request, const StartLog& log) {
  if (request.engine || request.engine_command || log.engine.empty()) return;
  const std::string version = version_of(log);
  request.engine = log.engine + (version.empty() ? "" : "@" + version);
}

// The log's flags, less those that an option or --set says.
void take_settings(Request& request, const StartLog& log, const EngineFlags& table,
                   std::vector<Warning>& warnings) {
  const std::vector<std::string_view> typed = typed_options(request);
  for (const auto& [key, text] : log.settings) {
    const EngineFlag* flag = table.find(key);
    const bool cache = key.starts_with("cache_type_") || key == "kv_cache_type";
    if (flag && !flag->option.empty() && contains(typed, flag->option)) continue;
    if (cache && contains(typed, "--kv")) continue;
    const std::string& name = key;
    const auto said = std::find_if(request.set.begin(), request.set.end(),
                                   [&name](const auto& s) { return s.first == name; });
    if (said == request.set.end())
      request.set.emplace_back(key, text);
    else if (said->second != text)
      warnings.push_back({"log-overridden", fmt::format("--set {}={} stands against the log's {}",
                                                        key, said->second, text)});
  }
}

std::int64_t devices_with_cache(const StartLog& log) {
  return std::count_if(log.cache_buffers.begin(), log.cache_buffers.end(), [](const auto& b) {
    return !b.first.starts_with("CPU") && !b.first.ends_with("_Host");
  });
}

// Whether a part of a name says how large the model is: "8B", "A3B", "7b".
bool is_size(std::string_view word) {
  return word.size() >= 2 && (word.ends_with('b') || word.ends_with('B')) &&
         word[word.size() - 2] >= '0' && word[word.size() - 2] <= '9';
}

std::string last_part(std::string_view path) {
  while (path.ends_with('/') || path.ends_with('\\')) path.remove_suffix(1);
  const std::size_t slash = path.find_last_of("/\\");
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

// "…/models--owner--name/snapshots/hash" → "owner/name"
std::optional<std::string> of_hub_cache(std::string_view path) {
  const std::size_t at = path.find("models--");
  if (at == path.npos) return std::nullopt;
  std::string_view rest = path.substr(at + 8);
  rest = rest.substr(0, rest.find_first_of("/\\"));
  const std::size_t mark = rest.find("--");
  if (mark == rest.npos) return std::string(rest);
  return std::string(rest.substr(0, mark)) + "/" + std::string(rest.substr(mark + 2));
}

}  // namespace

Request with_log(Request request, const StartLog& log, const Catalog& catalog,
                 std::vector<Warning>& warnings) {
  take_engine(request, log);
  if (!log.engine.empty()) take_settings(request, log, *catalog.engine(log.engine), warnings);
  const bool shares = std::any_of(request.set.begin(), request.set.end(), [](const auto& s) {
    return s.first == "gpu_memory_utilization" || s.first == "mem_fraction_static";
  });
  if (!request.utilization && !shares && log.utilization && log.utilization->least > 0 &&
      log.utilization->least <= 1)
    request.utilization = log.utilization->least;
  if (is_llama(log.engine) && !request.gpus && !request.tp && !request.pp)
    if (const std::int64_t n = devices_with_cache(log); n > 1) request.pp = n;
  for (const std::string& flag : log.unfollowed)
    warnings.push_back({"log-flag-unknown", "the log's " + flag + " is not followed"});
  if (log.starts > 1)
    warnings.push_back(
        {"several-starts", fmt::format("the log holds {} starts: this is the last", log.starts)});
  if (log.cut_lines > 0)
    warnings.push_back(
        {"long-lines", fmt::format("{} lines are longer than 64 KiB and were cut", log.cut_lines)});
  return request;
}

std::vector<std::string> names_for(std::string_view model) {
  std::vector<std::string> names;
  const std::string whole = of_hub_cache(model).value_or(std::string(model));
  names.push_back(whole);
  std::string rest = last_part(whole);
  for (const char* suffix : {".gguf", ".GGUF"})
    if (rest.ends_with(suffix)) rest.resize(rest.size() - 5);
  names.push_back(rest);
  // "gpt-oss-20b-mxfp4" → "gpt-oss-20b": what follows the size names a variant or a file type.
  for (std::size_t cut = rest.find_last_of("-_. "); cut != rest.npos && cut > 0;
       cut = rest.find_last_of("-_. ")) {
    if (is_size(std::string_view(rest).substr(cut + 1))) break;
    rest.resize(cut);
    names.push_back(rest);
  }
  return names;
}

ModelSpec model_for(const Request& request, const StartLog& log, const Catalog& catalog,
                    std::vector<Warning>& warnings) {
  if (!request.model.empty()) return catalog.model(request.model);
  if (log.metadata.count("general.architecture")) return read_gguf_listing(log.metadata);
  if (log.model.empty())
    throw Error("the log does not name its model")
        .of("MODEL")
        .advise("Name it after the log: kv-plan check LOG MODEL.");
  const std::vector<std::string> names = names_for(log.model);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!catalog.find("models", names[i])) continue;
    if (i > 1)
      warnings.push_back({"model-by-name", fmt::format("the log's model {} is taken for {}",
                                                       names.front(), names[i])});
    return catalog.model(names[i]);
  }
  std::vector<std::string> known;
  for (const CatalogEntry& entry : catalog.entries("models")) known.push_back(entry.name);
  const std::string near = did_you_mean(last_part(names.front()), known);
  throw Error("the log's model '" + names.front() + "' is not in the catalog")
      .of("MODEL")
      .advise((near.empty() ? near : near + " ") +
              "Name it, or its config.json, after the log: kv-plan check LOG MODEL.");
}

std::string device_in(const StartLog& log, const Catalog& catalog) {
  for (const std::string& name : log.devices)
    if (catalog.find("devices", name)) return name;
  return {};
}

}  // namespace kvplan
