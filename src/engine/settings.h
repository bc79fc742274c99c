// SPDX-License-Identifier: Apache-2.0
// EngineOptions::settings as typed values. A value that is not of the asked type is an Error that
// names the key.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/engine.h"

namespace kvplan {

class Settings {
 public:
  explicit Settings(const EngineOptions& options) : options_(options) {}

  std::optional<std::string> text(std::string_view key) const;
  // "4096" or "4k" (1,024 each).
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  // "true", "1", "yes", "" (a bare flag) and their opposites.
  std::optional<bool> boolean(std::string_view key) const;
  // "26843545600", "25GiB", "25GB", "800MiB", "100B".
  std::optional<Bytes> bytes(std::string_view key) const;

 private:
  const EngineOptions& options_;
};

}  // namespace kvplan
