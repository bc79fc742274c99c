// SPDX-License-Identifier: Apache-2.0
// EngineOptions::settings as typed values, where wanted with the engine's own defaults behind them.
// A value that is not of the asked type is an Error that names the key.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/flags.h"

namespace kvplan {

class Settings {
 public:
  // What was set alone.
  explicit Settings(const EngineOptions& options) : options_(options) {}
  // And what the engine takes there where nothing was set.
  Settings(const EngineOptions& options, const Site& site) : options_(options), site_(site) {}

  bool given(std::string_view key) const;  // set, not a default
  std::optional<std::string> text(std::string_view key) const;
  // "4096" or "4k" (1,024 each); throws Error below `least`.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least = INT64_MIN) const;
  std::optional<double> number(std::string_view key) const;
  // "true", "1", "yes", "" (a bare flag) and their opposites.
  std::optional<bool> boolean(std::string_view key) const;
  // "26843545600", "25GiB", "25GB", "800MiB", "100B".
  std::optional<Bytes> bytes(std::string_view key) const;
  // Of these, what the engine cannot do without: throws Error where its file has no default.
  std::int64_t needed_integer(std::string_view key, std::int64_t least = INT64_MIN) const;
  double needed_number(std::string_view key) const;
  std::string needed_text(std::string_view key) const;

 private:
  const EngineOptions& options_;
  std::optional<Site> site_;
};

}  // namespace kvplan
