// SPDX-License-Identifier: Apache-2.0
// Every option of the command line, described once: its name, what it takes, what it is for.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "cli/request.h"

namespace kvplan {

enum class FlagGroup { load, model, deployment, device, calibration, output };
std::string_view title_of(FlagGroup);

struct Flag {
  std::string_view name;      // "context", typed as --context; "o", typed as -o
  std::string_view argument;  // "LIST"; empty: a switch
  FlagGroup group;
  std::string_view help;
  // Notes the typed value (empty for a switch); throws Error that says what is accepted.
  void (*note)(Request&, std::string_view value);
  bool repeatable = false;

  std::string dashed() const { return std::string(name.size() == 1 ? "-" : "--").append(name); }
};

std::span<const Flag> flags();
const Flag& flag_named(std::string_view name);  // must exist

}  // namespace kvplan
