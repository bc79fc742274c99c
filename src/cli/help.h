// SPDX-License-Identifier: Apache-2.0
// Help texts, made from the tables of commands and options.
#pragma once
#include <string>

#include "cli/commands.h"

namespace kvplan {

std::string general_help();
std::string help_on(const CommandSpec&);
std::string version_text();

}  // namespace kvplan
