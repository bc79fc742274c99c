// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <array>
#include <utility>

#include "error.h"

namespace kvplan {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 6> kFormats = {{
    {"table", OutputFormat::table},
    {"json", OutputFormat::json},
    {"csv", OutputFormat::csv},
    {"markdown", OutputFormat::markdown},
    {"md", OutputFormat::markdown},
    {"html", OutputFormat::html},
}};

}  // namespace

OutputFormat output_format_of(std::string_view name) {
  for (const auto& [known, format] : kFormats)
    if (known == name) return format;
  throw Error("\"" + std::string(name.substr(0, 60)) + "\" is not a format")
      .advise("Use table, json, csv, markdown or html.");
}

}  // namespace kvplan
