// SPDX-License-Identifier: Apache-2.0
#include "cli/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "cli/words.h"

namespace kvplan {
namespace {

constexpr std::string_view kCountHint = "Give a whole number, like 8 or 32k (k = 1024).";

// The digits of "12.50" as 1250 / 10^2, so that decimal input stays exact.
struct Decimal {
  std::int64_t digits = 0;
  std::int64_t divisor = 1;
  std::string_view rest;  // what follows the number
};

// Empty when `s` does not start with a number of at most 18 digits.
std::optional<Decimal> decimal_prefix(std::string_view s) {
  Decimal d;
  std::size_t i = 0, seen = 0;
  bool point = false;
  for (; i < s.size(); ++i) {
    if (s[i] == '.' && !point && !s.substr(i).starts_with("..")) {
      point = true;
    } else if (s[i] >= '0' && s[i] <= '9') {
      if (++seen > 18) return std::nullopt;
      d.digits = d.digits * 10 + (s[i] - '0');
      if (point) d.divisor *= 10;
    } else {
      break;
    }
  }
  if (seen == 0) return std::nullopt;
  d.rest = s.substr(i);
  return d;
}

std::int64_t scaled(const Decimal& d, std::int64_t unit) {
  return mul_div(d.digits, unit, d.divisor);
}

struct Unit {
  std::string_view name;  // lower case
  std::int64_t value;
};
constexpr std::int64_t kKilo = 1000, kMega = kKilo * kKilo, kGiga = kMega * kKilo;
constexpr std::array kSizeUnits = {
    Unit{"b", 1},      Unit{"kb", kKilo},        Unit{"kib", kKiB},
    Unit{"mb", kMega}, Unit{"mib", kMiB},        Unit{"gb", kGiga},
    Unit{"gib", kGiB}, Unit{"tb", kGiga* kKilo}, Unit{"tib", kGiB* kKiB},
};

std::optional<std::int64_t> size_unit(std::string_view name) {
  const std::string wanted = lowered(trimmed(name));
  for (const Unit& unit : kSizeUnits)
    if (unit.name == wanted) return unit.value;
  return std::nullopt;
}

// "131,072", as tables print it, without its commas; any other word as it is.
std::string without_thousands(std::string_view word) {
  const std::size_t first = word.find(',');
  std::string digits(word.substr(0, first));
  for (std::size_t at = first; at < word.size(); at += 4) {
    if (first == 0 || first > 3 || word[at] != ',' || word.size() - at < 4)
      return std::string(word);
    digits += word.substr(at + 1, 3);
  }
  return digits;
}

}  // namespace

std::int64_t count_of(std::string_view typed, std::int64_t least) {
  const std::string_view word = trimmed(typed);
  const std::string digits = without_thousands(word);
  const std::optional<Decimal> d = decimal_prefix(digits);
  if (!d) refuse(word, "is not a number", kCountHint);
  const std::string suffix = lowered(d->rest);
  const std::int64_t unit = suffix.empty() ? 1 : suffix == "k" ? kKiB : suffix == "m" ? kMiB : 0;
  if (unit == 0) refuse(word, "is not a number", kCountHint);
  if (static_cast<__int128>(d->digits) * unit % d->divisor != 0)
    refuse(word, "is not a whole number", kCountHint);
  const std::int64_t n = scaled(*d, unit);
  if (n < least) refuse(word, fmt::format("is less than {}", least), kCountHint);
  return n;
}

Bytes size_of(std::string_view word) {
  constexpr std::string_view kHint = "Give a size with its unit: 24GiB, 80GB, 512MiB or 123B.";
  word = trimmed(word);
  const std::optional<Decimal> d = decimal_prefix(word);
  if (!d) refuse(word, "is not a size", kHint);
  const std::string unit = lowered(trimmed(d->rest));
  if (unit.empty()) refuse(word, "has no unit", kHint);
  if (unit == "k" || unit == "m" || unit == "g" || unit == "t")
    refuse(word, "could be 1000s or 1024s", kHint);
  const std::optional<std::int64_t> value = size_unit(unit);
  if (!value) refuse(word, "has an unknown unit", kHint);
  return Bytes(scaled(*d, *value));
}

BytesPerSecond bandwidth_of(std::string_view word) {
  constexpr std::string_view kHint = "Give a rate with its unit: 3.35TB/s or 900GB/s.";
  word = trimmed(word);
  const std::optional<Decimal> d = decimal_prefix(word);
  if (!d) refuse(word, "is not a rate", kHint);
  const std::string unit = lowered(trimmed(d->rest));
  const std::optional<std::int64_t> value =
      unit.ends_with("/s") ? size_unit(std::string_view(unit).substr(0, unit.size() - 2))
                           : std::nullopt;
  if (!value) refuse(word, "has no unit of a rate", kHint);
  if (d->digits == 0) refuse(word, "is no bandwidth at all", kHint);
  return BytesPerSecond(static_cast<double>(d->digits) / static_cast<double>(d->divisor) *
                        static_cast<double>(*value));
}

double positive_of(std::string_view word) {
  word = trimmed(word);
  double number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size() || !std::isfinite(number) ||
      number <= 0)
    refuse(word, "is not a number above 0", "Give a number like 20 or 7.5.");
  return number;
}

double share_of(std::string_view word) {
  constexpr std::string_view kHint = "Give a share like 0.9 or 90%.";
  word = trimmed(word);
  const std::optional<Decimal> d = decimal_prefix(word);
  const bool percent = d && trimmed(d->rest) == "%";
  if (!d || !(percent || d->rest.empty())) refuse(word, "is not a share", kHint);
  const double share =
      static_cast<double>(d->digits) / (static_cast<double>(d->divisor) * (percent ? 100.0 : 1.0));
  if (share <= 0 || share > 1) refuse(word, "is not above 0 and at most 1", kHint);
  return share;
}

std::pair<std::int64_t, std::int64_t> pair_of(std::string_view word) {
  const std::size_t mark = word.find_first_of("+,");
  if (mark == std::string_view::npos)
    refuse(word, "is not two numbers", "Give latent and rotary width, like 512+64.");
  return {count_of(word.substr(0, mark)), count_of(word.substr(mark + 1), 0)};
}

std::pair<std::string, std::string> setting_of(std::string_view word) {
  constexpr std::string_view kHint =
      "Write KEY=VALUE with the engine's own flag: max_num_seqs=256.";
  const std::size_t mark = word.find('=');
  if (mark == std::string_view::npos) refuse(word, "has no =", kHint);
  std::string_view name = trimmed(word.substr(0, mark));
  while (name.starts_with('-')) name.remove_prefix(1);
  if (name.empty()) refuse(word, "has no key", kHint);
  std::string key(name);
  std::replace(key.begin(), key.end(), '-', '_');
  return {key, std::string(trimmed(word.substr(mark + 1)))};
}

}  // namespace kvplan
