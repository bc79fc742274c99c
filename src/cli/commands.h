// SPDX-License-Identifier: Apache-2.0
// Every command, described once: what it answers, what it takes, its options and their defaults.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/request.h"

namespace kvplan {

struct Positional {
  std::string_view name;  // "MODEL"
  bool required = true;
  bool many = false;
};
struct Default {
  std::string_view flag, value;  // as they are typed
};
struct Example {
  std::string_view line, what;
};

struct CommandSpec {
  Command command;
  std::string_view name;
  std::string_view answers;  // one line for the list of commands
  std::span<const Positional> positionals;
  std::span<const std::string_view> flags;  // each holds names with a space between
  std::span<const Default> defaults;
  std::span<const Example> examples;

  std::string usage() const;  // "kv-plan gqa MODEL [DEVICE] [OPTIONS]"
  std::vector<std::string_view> flag_names() const;
};

std::span<const CommandSpec> commands();
const CommandSpec& spec_of(Command);
const CommandSpec* find_command(std::string_view name);  // nullptr when unknown

// A request in which each option that has a default has it, and nothing else is set.
Request defaults_of(Command);

}  // namespace kvplan
