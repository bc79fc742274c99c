// SPDX-License-Identifier: Apache-2.0
// The flags of an engine that bear on memory, as an engine file lists them: what they take, how a
// command line spells them, which option of kv-plan says the same, and what the engine takes where
// nobody says. What is not here is refused in a setting.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/hardware.h"
#include "engine/version.h"

namespace kvplan {

// What a default may depend on.
struct Site {
  Version version;
  Bytes memory{INT64_MAX};  // of a device
  std::string_view device;  // its name
  std::int64_t ranks = 1;   // of a pipeline stage
};
// Where options put the engine: without a version, the newest; without a device, on a large one.
Site site_of(const EngineOptions&, std::int64_t ranks = 1);

struct EngineFlag {
  enum Kind { toggle, tristate, integer, number, size, text, choice, json, list };
  // What the engine takes by itself where all of these hold.
  struct Default {
    std::string value, source;
    std::string since;            // "0.21": in this version or a later one; empty: in all
    std::optional<Bytes> memory;  // on devices with at least as much
    std::string except;           // but not on those with this in their name
    std::string only;             // and on those with this in their name alone
    std::int64_t ranks = 1;       // on at least so many
    std::string note;             // when else, in words
  };

  std::string name;  // as a setting: '-' as '_', nested ones with dots
  // tristate: on, off or auto, a bare flag is on; list: words up to the next flag, with commas in a
  // setting.
  Kind kind = text;
  // On a command line, beside the name after "--"; `negations` turn the flag off.
  std::vector<std::string> spellings, negations;
  std::string option;  // of kv-plan: "--tp"
  std::vector<std::string> choices;
  std::vector<Default> defaults;  // of those that hold, the last counts
  bool assumed = false;           // a plan names its default among the assumptions
  std::string remark;             // what to say where it is set: "leaves weights to the host"

  const Default* default_at(const Site&) const;  // nullptr where the engine has none, or none known
};

struct EngineFlags {
  // A flag that is known and not followed, and what to say of it: "takes memory of the host".
  struct Remark {
    std::string name, text;
  };

  std::string engine, source;
  std::string newest;  // version that the flags and the rules were read from
  std::vector<EngineFlag> flags;
  std::vector<Hardware> hardware;
  // Known, and without bearing on memory; switches take no value. "compilation_config." stands for
  // every key of it.
  std::vector<std::string> idle_switches, idle_values;
  std::vector<Remark> remarked_switches, remarked_values;

  const EngineFlag* find(std::string_view name) const;  // nullptr when unknown
  const Remark* remark(std::string_view name) const;    // likewise
  bool is_idle(std::string_view name) const;
  bool is_switch(std::string_view name) const;  // of those that are not followed
};

// Of these options' engine; of the ideal, none. Throws Error where another engine's were not given.
const EngineFlags& flags_of(const EngineOptions&);

// An engine's flags by its name, or by a usual spelling of it ("llamacpp", "TensorRT-LLM"). Throws
// Error for an unknown name, with the near miss as advice.
using FindEngine = std::function<std::shared_ptr<const EngineFlags>(std::string_view name)>;
// "vllm@0.21" → name, version and flags, no settings.
EngineOptions parse_engine(std::string_view name_at_version, const FindEngine&);

// Throws Error for a setting that the engine does not have (with the near miss), or whose value is
// not of the flag's kind.
void check_settings(const EngineOptions&);
void check_value(const EngineFlag&, const std::string& value);

// Takes the settings that an option of kv-plan says too out of `options`, as option → value:
// {"--tp", "4"}, {"--kv", "q8_0,q4_0"}. Throws Error that names both where `typed` has another
// value for the same option.
std::map<std::string, std::string> take_common_options(
    EngineOptions& options, const std::map<std::string, std::string>& typed);

// The cache format that the engine takes by itself, in kv-plan's words; empty where it follows the
// checkpoint.
std::optional<EngineFlag::Default> default_cache(const EngineOptions&);

}  // namespace kvplan
