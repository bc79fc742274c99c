// SPDX-License-Identifier: Apache-2.0
#include "engine/flags.h"

#include <algorithm>
#include <array>

#include "engine/flag_tables.h"
#include "engine/settings.h"
#include "nearest.h"

namespace kvplan {
namespace {

void check_choice(const EngineFlag& flag, const std::string& value) {
  const auto words = words_in(flag.choices);
  if (std::find(words.begin(), words.end(), value) != words.end()) return;
  const std::vector<std::string> known(words.begin(), words.end());
  const std::string hint = did_you_mean(value, known);
  throw Error("'" + value + "' is none of " + std::string(flag.choices))
      .of(std::string(flag.name))
      .advise(hint);
}

void check_value(const EngineFlag& flag, const Settings& settings) {
  switch (flag.kind) {
    case EngineFlag::toggle:
      settings.boolean(flag.name);
      return;
    case EngineFlag::tristate:
      if (settings.text(flag.name) != "auto") settings.boolean(flag.name);
      return;
    case EngineFlag::integer:
      settings.integer(flag.name);
      return;
    case EngineFlag::number:
      settings.number(flag.name);
      return;
    case EngineFlag::size:
      settings.bytes(flag.name);
      return;
    case EngineFlag::choice:
      check_choice(flag, settings.text(flag.name).value_or(""));
      return;
    case EngineFlag::json:
      throw Error("holds several values")
          .of(std::string(flag.name))
          .advise("Set them one by one, as " + std::string(flag.name) + ".KEY=VALUE.");
    case EngineFlag::text:
      if (settings.text(flag.name)->empty())
        throw Error("needs a value").of(std::string(flag.name));
  }
}

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
  return flag ? std::string(flag->option) : std::string();
}

}  // namespace

std::vector<std::string_view> words_in(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    if (!word.empty()) words.push_back(word);
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
  return words;
}

const EngineFlag* EngineFlags::find(std::string_view name) const {
  const auto found =
      std::find_if(flags.begin(), flags.end(), [&](const EngineFlag& f) { return f.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

bool EngineFlags::is_idle(std::string_view name) const {
  for (const std::string_view list : {idle_switches, idle_values})
    for (const std::string_view word : words_in(list))
      if (word == name) return true;
  return false;
}

const EngineFlags& flags_of(std::string_view engine) {
  static const std::array kTables = {EngineFlags{"ideal", {}, {}, {}},
                                     vllm_flags(),
                                     sglang_flags(),
                                     trtllm_flags(),
                                     llamacpp_flags(),
                                     ollama_flags()};
  const auto found = std::find_if(kTables.begin(), kTables.end(),
                                  [&](const EngineFlags& t) { return t.engine == engine; });
  if (found != kTables.end()) return *found;
  throw Error("unknown engine '" + std::string(engine) + "'").of("--engine");
}

void check_settings(const EngineOptions& options) {
  const EngineFlags& table = flags_of(options.name);
  const Settings settings(options);
  for (const auto& [name, value] : options.settings) {
    if (const EngineFlag* flag = table.find(name)) {
      check_value(*flag, settings);
      continue;
    }
    if (table.is_idle(name)) continue;
    std::vector<std::string> known;
    for (const EngineFlag& flag : table.flags) known.emplace_back(flag.name);
    throw Error(options.name + " has no flag of this name, or none that this program follows")
        .of(name)
        .advise(did_you_mean(name, known));
  }
}

std::map<std::string, std::string> take_common_options(
    EngineOptions& options, const std::map<std::string, std::string>& typed) {
  check_settings(options);
  const EngineFlags& table = flags_of(options.name);
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
