// SPDX-License-Identifier: Apache-2.0
#include "engine/settings.h"

#include <array>
#include <charconv>
#include <cmath>

namespace kvplan {
namespace {

Error unreadable(std::string_view key, const std::string& value, const char* wanted) {
  return Error("'" + value + "' is not " + wanted).of(std::string(key));
}

template <class Number>
std::optional<std::pair<Number, std::string_view>> leading(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return std::pair(value, text.substr(static_cast<std::size_t>(end - text.data())));
}

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array kUnits = {
    Unit{"", 1},       Unit{"B", 1},     Unit{"KiB", kKiB},   Unit{"MiB", kMiB},
    Unit{"GiB", kGiB}, Unit{"kB", 1000}, Unit{"MB", 1000000}, Unit{"GB", 1000000000},
};

}  // namespace

std::optional<std::string> Settings::text(std::string_view key) const {
  const auto found = options_.settings.find(std::string(key));
  if (found == options_.settings.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> Settings::integer(std::string_view key) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  const auto parsed = leading<std::int64_t>(*value);
  if (parsed && parsed->second.empty()) return parsed->first;
  if (parsed && parsed->second == "k") return checked_mul(parsed->first, 1024);
  throw unreadable(key, *value, "a whole number");
}

std::optional<double> Settings::number(std::string_view key) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  const auto parsed = leading<double>(*value);
  if (!parsed || !parsed->second.empty() || !std::isfinite(parsed->first))
    throw unreadable(key, *value, "a number");
  return parsed->first;
}

std::optional<bool> Settings::boolean(std::string_view key) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  for (const char* yes : {"true", "True", "1", "yes", "on", ""})
    if (*value == yes) return true;
  for (const char* no : {"false", "False", "0", "no", "off"})
    if (*value == no) return false;
  throw unreadable(key, *value, "true or false");
}

std::optional<Bytes> Settings::bytes(std::string_view key) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  const auto parsed = leading<double>(*value);
  if (parsed && parsed->first >= 0)
    for (const Unit& unit : kUnits)
      if (parsed->second == unit.name) {
        const double total = parsed->first * static_cast<double>(unit.bytes);
        if (total < 9e18) return Bytes(static_cast<std::int64_t>(total));
      }
  throw unreadable(key, *value, "a size with a unit (B, MiB, GiB, GB)");
}

}  // namespace kvplan
