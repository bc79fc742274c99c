// SPDX-License-Identifier: Apache-2.0
// The flags of each engine that bear on memory, as data: what they take, how a command line spells
// them, and which option of kv-plan says the same. What is not here is refused in a setting.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace kvplan {

struct EngineFlag {
  enum Kind { toggle, tristate, integer, number, size, text, choice, json };
  std::string_view name;  // as a setting: '-' as '_', nested ones with dots
  Kind kind = text;       // tristate: on, off or auto; a bare flag is on
  // Spellings on a command line beside the name after "--", with a space between; one with '!' in
  // front turns the flag off.
  std::string_view spellings = {};
  std::string_view option = {};   // of kv-plan: "--tp"
  std::string_view choices = {};  // with a space between
};

struct EngineFlags {
  std::string_view engine;
  std::span<const EngineFlag> flags;
  // Known, and without bearing on memory; needed to tell flags that take a value from those that
  // do not.
  std::string_view idle_switches, idle_values;

  const EngineFlag* find(std::string_view name) const;  // nullptr when unknown
  bool is_idle(std::string_view name) const;
};

const EngineFlags& flags_of(std::string_view engine);

// Throws Error for a setting that the engine does not have (with the near miss), or whose value is
// not of the flag's kind.
void check_settings(const EngineOptions&);

// Takes the settings that an option of kv-plan says too out of `options`, as option → value:
// {"--tp", "4"}, {"--kv", "q8_0,q4_0"}. Throws Error that names both where `typed` has another
// value for the same option.
std::map<std::string, std::string> take_common_options(
    EngineOptions& options, const std::map<std::string, std::string>& typed);

// Words of a list with a space between.
std::vector<std::string_view> words_in(std::string_view list);

}  // namespace kvplan
