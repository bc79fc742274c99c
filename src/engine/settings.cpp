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

template <class T>
T needed(std::optional<T> value, std::string_view key) {
  if (value) return *std::move(value);
  throw Error("the engine's file has no default for it")
      .of(std::string(key))
      .advise("Set it, or give the flag a default there.");
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

bool Settings::given(std::string_view key) const {
  return options_.settings.count(std::string(key)) > 0;
}

std::optional<std::string> Settings::text(std::string_view key) const {
  const auto found = options_.settings.find(std::string(key));
  if (found != options_.settings.end()) return found->second;
  const EngineFlag* flag = site_ ? flags_of(options_).find(key) : nullptr;
  const EngineFlag::Default* own = flag ? flag->default_at(*site_) : nullptr;
  return own ? std::optional(own->value) : std::nullopt;
}

std::optional<std::int64_t> Settings::integer(std::string_view key, std::int64_t least) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  const auto parsed = leading<std::int64_t>(*value);
  std::optional<std::int64_t> n;
  if (parsed && parsed->second.empty()) n = parsed->first;
  if (parsed && parsed->second == "k") n = checked_mul(parsed->first, 1024);
  if (!n) throw unreadable(key, *value, "a whole number");
  if (*n < least) throw Error("must be at least " + std::to_string(least)).of(std::string(key));
  return n;
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

std::int64_t Settings::needed_integer(std::string_view key, std::int64_t least) const {
  return needed(integer(key, least), key);
}
double Settings::needed_number(std::string_view key) const { return needed(number(key), key); }
std::string Settings::needed_text(std::string_view key) const { return needed(text(key), key); }

}  // namespace kvplan
