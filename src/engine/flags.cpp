// SPDX-License-Identifier: Apache-2.0
#include "engine/flags.h"

#include <algorithm>

#include "engine/settings.h"
#include "nearest.h"

namespace kvplan {
namespace {

void check_choice(const EngineFlag& flag, const std::string& value) {
  if (std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end()) return;
  std::string all;
  for (const std::string& choice : flag.choices) all += (all.empty() ? "" : ", ") + choice;
  throw Error("'" + value + "' is not followed here; known are " + all)
      .of(flag.name)
      .advise(did_you_mean(value, flag.choices));
}

bool among(std::string_view name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& known) {
    return known.ends_with('.') ? name.starts_with(known) : name == known;
  });
}

const EngineFlags::Remark* remark_in(const std::vector<EngineFlags::Remark>& all,
                                     std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const EngineFlags::Remark& r) { return r.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

Site site_of(const EngineOptions& options, std::int64_t ranks) {
  Site site;
  const std::string& version = options.version.empty() ? flags_of(options).newest : options.version;
  if (!version.empty()) site.version = parse_version(version);
  if (options.device) {
    site.memory = options.device->memory.value;
    site.device = options.device->name;
  }
  site.ranks = ranks;
  return site;
}

const EngineFlag::Default* EngineFlag::default_at(const Site& site) const {
  const auto holds = [&](const Default& d) {
    return (d.since.empty() || parse_version(d.since) <= site.version) &&
           d.memory.value_or(site.memory) <= site.memory && d.ranks <= site.ranks &&
           (d.except.empty() || site.device.find(d.except) == std::string_view::npos) &&
           site.device.find(d.only) != std::string_view::npos;
  };
  const auto last = std::find_if(defaults.rbegin(), defaults.rend(), holds);
  return last == defaults.rend() ? nullptr : &*last;
}

const EngineFlag* EngineFlags::find(std::string_view name) const {
  const auto found =
      std::find_if(flags.begin(), flags.end(), [&](const EngineFlag& f) { return f.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

const EngineFlags::Remark* EngineFlags::remark(std::string_view name) const {
  const Remark* of_switch = remark_in(remarked_switches, name);
  return of_switch ? of_switch : remark_in(remarked_values, name);
}

bool EngineFlags::is_switch(std::string_view name) const {
  return among(name, idle_switches) || remark_in(remarked_switches, name) != nullptr;
}

bool EngineFlags::is_idle(std::string_view name) const {
  return among(name, idle_switches) || among(name, idle_values);
}

const EngineFlags& flags_of(const EngineOptions& options) {
  static const EngineFlags kNone;
  if (options.flags) return *options.flags;
  if (options.name == "ideal") return kNone;
  throw Error("the flags of " + options.name + " are not known here").of("--engine");
}

EngineOptions parse_engine(std::string_view name_at_version, const FindEngine& find) {
  const auto at = name_at_version.find('@');
  EngineOptions options;
  options.flags = find(name_at_version.substr(0, at));
  options.name = options.flags->engine;
  if (at == std::string_view::npos) return options;
  options.version = name_at_version.substr(at + 1);
  if (options.flags->flags.empty())
    throw Error("the " + options.name + " has no versions")
        .of("--engine")
        .advise("Write --engine " + options.name + ".");
  parse_version(options.version);
  return options;
}

void check_value(const EngineFlag& flag, const std::string& value) {
  EngineOptions one;
  one.settings.emplace(flag.name, value);
  const Settings settings(one);
  switch (flag.kind) {
    case EngineFlag::toggle:
      settings.boolean(flag.name);
      return;
    case EngineFlag::tristate:
      if (value != "auto") settings.boolean(flag.name);
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
      check_choice(flag, value);
      return;
    case EngineFlag::json:
      throw Error("holds several values")
          .of(flag.name)
          .advise("Set them one by one, as " + flag.name + ".KEY=VALUE.");
    case EngineFlag::text:
    case EngineFlag::list:
      if (value.empty()) throw Error("needs a value").of(flag.name);
  }
}

void check_settings(const EngineOptions& options) {
  const EngineFlags& table = flags_of(options);
  for (const auto& [name, value] : options.settings) {
    if (const EngineFlag* flag = table.find(name)) {
      check_value(*flag, value);
      continue;
    }
    if (table.is_idle(name)) continue;
    if (const EngineFlags::Remark* remark = table.remark(name))
      throw Error(remark->text).of(name).advise("Leave it out.");
    std::vector<std::string> known;
    for (const EngineFlag& flag : table.flags) known.push_back(flag.name);
    throw Error(options.name + " has no flag of this name, or none that this program follows")
        .of(name)
        .advise(did_you_mean(name, known));
  }
}

}  // namespace kvplan
