// SPDX-License-Identifier: Apache-2.0
// Texts that are checked whole. KVPLAN_UPDATE_GOLDEN=1 rewrites them; read the diff before a
// commit.
#pragma once
#include <string>

// Empty when tests/golden/NAME holds `text`; else what differs, line by line.
std::string golden_difference(const std::string& name, const std::string& text);
// Likewise of a generated file of the project: "reports/accuracy.md".
std::string generated_difference(const std::string& path, const std::string& text);
