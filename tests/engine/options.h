// SPDX-License-Identifier: Apache-2.0
// Options of an engine with the flags of its shipped file, each read once.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "catalog/catalog.h"
#include "engine/flags.h"

namespace kvplan::test {

inline const FindEngine& shipped_engines() {
  static const Catalog kCatalog;
  static std::map<std::string, std::shared_ptr<const EngineFlags>, std::less<>> read;
  static const FindEngine kFind = [](std::string_view name) {
    auto& flags = read[std::string(name)];
    if (!flags) flags = kCatalog.engine(name);
    return flags;
  };
  return kFind;
}

inline EngineOptions engine_options(std::string_view name_at_version,
                                    std::map<std::string, std::string> settings = {}) {
  EngineOptions options = parse_engine(name_at_version, shipped_engines());
  options.settings = std::move(settings);
  return options;
}

}  // namespace kvplan::test
