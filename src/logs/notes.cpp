// SPDX-License-Identifier: Apache-2.0
#include "logs/notes.h"

#include <array>
#include <charconv>
#include <cmath>

#include "engine/flags.h"

namespace kvplan::logs {
namespace {

// What a hostile log may make the record grow to.
constexpr double kMostBytes = 1e15;
constexpr Bytes kMostSum{std::int64_t{1} << 60};
constexpr std::size_t kMostSettings = 256, kMostText = 512, kMostDevices = 64, kMostRefusals = 16;

std::string without_commas(std::string_view text) {
  std::string digits(text.substr(0, 64));
  std::erase(digits, ',');
  return digits;
}

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array kUnits = {Unit{"B", 1},          Unit{"KiB", kKiB}, Unit{"MiB", kMiB},
                               Unit{"GiB", kGiB},     Unit{"KB", 1000},  Unit{"MB", 1000000},
                               Unit{"GB", 1000000000}};

bool leaves_it_open(std::string_view value) {
  return value.empty() || value == "None" || value == "auto" || value == "-1";
}

bool same_numbers(const Refusal& a, const Refusal& b) {
  const auto least = [](const auto& printed) { return printed ? printed->least.n : -1; };
  return a.cause == b.cause && least(a.needed) == least(b.needed) &&
         least(a.available) == least(b.available) && a.length == b.length && a.device == b.device;
}

}  // namespace

std::optional<std::int64_t> whole(std::string_view text) {
  const std::string digits = without_commas(text);
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return n;
}

std::optional<double> real(std::string_view text) {
  const std::string digits = without_commas(text);
  double x = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(x))
    return std::nullopt;
  return x;
}

std::int64_t unit_named(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit.bytes;
  return 0;
}

std::optional<Printed<Bytes>> size(std::string_view number, std::int64_t unit, int decimals,
                                   std::int64_t line) {
  const auto x = real(number);
  if (!x || unit <= 0 || std::abs(*x * static_cast<double>(unit)) > kMostBytes) return std::nullopt;
  const std::size_t point = number.find('.');
  const int printed = point == number.npos ? 0 : static_cast<int>(number.size() - point - 1);
  const double digit = std::pow(10.0, -std::max(printed, decimals));
  const double half = unit == 1 ? 0 : digit / 2 * static_cast<double>(unit);
  const Bytes value(std::llround(*x * static_cast<double>(unit)));
  return Printed<Bytes>{value, value, Bytes(static_cast<std::int64_t>(std::ceil(half))), line, 1};
}

void begin(StartLog& log) {
  if (!log.has_cache() && log.refusals.empty()) return;
  StartLog fresh;
  fresh.engine = log.engine;
  fresh.version = log.version;
  fresh.version_hint = log.version_hint;
  fresh.devices = log.devices;
  fresh.starts = log.starts + 1;
  log = std::move(fresh);
}

void put_version(StartLog& log, std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  text = text.substr(0, text.find('+'));
  if (text.empty() || text.size() > 64 || text.front() < '0' || text.front() > '9') return;
  log.version = text;
}

void put_model(StartLog& log, std::string_view name) {
  if (!leaves_it_open(name)) log.model = name.substr(0, kMostText);
}

void put_device(StartLog& log, std::string_view name) {
  const std::string text(name.substr(0, 100));
  if (log.devices.size() < kMostDevices && !text.empty()) log.devices.push_back(text);
}

void put(StartLog& log, std::string_view key, std::string_view value) {
  if (leaves_it_open(value) || key.size() > kMostText || value.size() > kMostText ||
      log.settings.size() >= kMostSettings)
    return;
  if (log.engine == "ollama" && key.starts_with("cache_type_")) key = "kv_cache_type";
  std::string text(value);
  if (text.find_first_not_of("0123456789,") == text.npos) std::erase(text, ',');  // "262,144"
  if (text == "True") text = "true";
  if (text == "False") text = "false";
  log.settings[std::string(key)] = std::move(text);
}

void keep_followed(StartLog& log, const EngineFlags& flags) {
  std::erase_if(log.settings, [&](const auto& setting) {
    const EngineFlag* flag = flags.find(setting.first);
    if (!flag) return true;
    try {
      check_value(*flag, setting.second);
      return false;
    } catch (const Error&) {
      log.unfollowed.push_back(setting.first + "=" + setting.second);
      return true;
    }
  });
}

void refuse(StartLog& log, const Found& f, Refusal refusal) {
  if (log.refusals.size() >= kMostRefusals) return;
  for (const Refusal& other : log.refusals)
    if (same_numbers(other, refusal)) return;
  refusal.line = f.number;
  refusal.text = f.line.substr(0, kMostText);
  log.refusals.push_back(std::move(refusal));
}

void add(std::optional<Printed<Bytes>>& sum, const Printed<Bytes>& printed) {
  if (!sum) return see(sum, printed);
  if (sum->least > kMostSum) return;
  sum->least += printed.least;
  sum->most = sum->least;
  sum->half += printed.half;
  ++sum->times;
}

void add(std::map<std::string, Printed<Bytes>>& buffers, std::string_view device,
         const Printed<Bytes>& printed) {
  if (buffers.size() >= kMostDevices) return;
  std::optional<Printed<Bytes>> sum;
  const std::string name(device.substr(0, 64));
  if (const auto at = buffers.find(name); at != buffers.end()) sum = at->second;
  add(sum, printed);
  buffers[name] = *sum;
}

void replace(std::map<std::string, Printed<Bytes>>& buffers, std::string_view device,
             const Printed<Bytes>& printed) {
  if (buffers.size() < kMostDevices) buffers[std::string(device.substr(0, 64))] = printed;
}

}  // namespace kvplan::logs
