// SPDX-License-Identifier: Apache-2.0
// Flags of an engine that an option of kv-plan says too, in kv-plan's words.
#include "engine/flags.h"
#include "engine/settings.h"

namespace kvplan {
namespace {

// A text as a number, where it is one: "0.90", "32k", "2GiB".
std::optional<double> number_in(const std::string& text) {
  EngineOptions one;
  one.settings["value"] = text;
  const Settings settings(one);
  try {
    return settings.number("value");
  } catch (const Error&) {
  }
  try {
    return static_cast<double>(*settings.integer("value"));
  } catch (const Error&) {
  }
  try {
    return settings.bytes("value")->real();
  } catch (const Error&) {
  }
  return std::nullopt;
}

bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = number_in(a), y = number_in(b);
  return x && y && *x == *y;
}

// What an engine calls a cache format, as kv-plan does; empty for "auto", which says nothing.
std::string cache_format(std::string_view value) {
  if (value == "auto") return {};
  if (value.starts_with("fp8_e")) return "fp8";  // fp8_e4m3, fp8_e5m2
  if (value == "bfloat16") return "bf16";
  if (value == "float16" || value == "f16") return "fp16";
  return std::string(value);
}

// A value in kv-plan's words: keys and values of one cache format are named once.
std::string in_common_words(std::string_view option, std::string_view value) {
  if (option != "--kv") return std::string(value);
  const auto comma = value.find(',');
  std::string key = cache_format(value.substr(0, comma));
  if (comma == std::string_view::npos) return key;
  const std::string other = cache_format(value.substr(comma + 1));
  return key == other ? key : key + "," + other;
}

// llama.cpp names the formats of keys and of values apart; a missing one is f16.
constexpr const char* kCacheTypes = "cache_type_k and cache_type_v";
void join_cache_types(EngineOptions& options) {
  const auto taken = [&](const char* name) {
    auto node = options.settings.extract(name);
    return node.empty() ? std::string() : node.mapped();
  };
  const std::string key = taken("cache_type_k"), value = taken("cache_type_v");
  if (!key.empty() || !value.empty())
    options.settings[kCacheTypes] =
        (key.empty() ? "f16" : key) + "," + (value.empty() ? "f16" : value);
}

std::string option_of(const EngineFlags& table, const std::string& setting) {
  if (setting == kCacheTypes) return "--kv";
  const EngineFlag* flag = table.find(setting);
  return flag ? flag->option : std::string();
}

}  // namespace

std::optional<EngineFlag::Default> default_cache(const EngineOptions& options) {
  EngineOptions own = options;  // as if its user had typed the defaults
  own.settings.clear();
  std::optional<EngineFlag::Default> found;
  for (const EngineFlag& flag : flags_of(options).flags) {
    const bool of_cache = flag.option == "--kv" || flag.name.starts_with("cache_type_");
    const EngineFlag::Default* d = of_cache ? flag.default_at(site_of(options)) : nullptr;
    if (!d) continue;
    own.settings[flag.name] = d->value;
    found = *d;
  }
  const auto taken = take_common_options(own, {});
  if (const auto said = taken.find("--kv"); found && said != taken.end()) {
    found->value = said->second;
    return found;
  }
  return std::nullopt;
}

std::map<std::string, std::string> take_common_options(
    EngineOptions& options, const std::map<std::string, std::string>& typed) {
  check_settings(options);
  const EngineFlags& table = flags_of(options);
  join_cache_types(options);
  struct Said {
    std::string by, value;
  };
  std::map<std::string, Said> said;
  for (const auto& [option, value] : typed) said[option] = {option, in_common_words(option, value)};
  std::map<std::string, std::string> taken;
  for (auto at = options.settings.begin(); at != options.settings.end();) {
    const auto& [name, text] = *at;
    const std::string option = option_of(table, name);
    if (option.empty()) {
      ++at;
      continue;
    }
    const std::string value = in_common_words(option, text);
    if (!value.empty()) {
      const Said& first = said.try_emplace(option, Said{name, value}).first->second;
      if (!same_value(first.value, value))
        throw Error(std::string(first.by)
                        .append(" says ")
                        .append(first.value)
                        .append(" and ")
                        .append(name)
                        .append(" says ")
                        .append(value))
            .of(name)
            .advise("Say it once.");
      taken[option] = value;
    }
    at = options.settings.erase(at);
  }
  return taken;
}

}  // namespace kvplan
