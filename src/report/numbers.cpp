// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "report/text.h"

namespace kvplan {
namespace {

// "1234567.8" → "1,234,567.8"
std::string grouped(std::string digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(digits.find_first_of(". "), digits.size());
  for (std::size_t at = end; at > start + 3;) digits.insert(at -= 3, ",");
  return digits;
}

// `digits` significant digits, fewer where the rest are zeros, but at least `least`; integers of
// more digits are not rounded to them.
std::string significant(double x, int digits, int least) {
  if (x == 0) return "0";
  const std::string rounded = fmt::format("{:.{}e}", x, digits - 1);  // its exponent is final
  const int before = std::stoi(rounded.substr(rounded.find('e') + 1)) + 1;
  std::string text = fmt::format("{:.{}f}", x, std::clamp(digits - before, 0, 15));
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return grouped(text);
  const auto keep = static_cast<std::size_t>(std::max(least - before, 0));
  while (text.size() > point + 1 + keep && text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return grouped(text);
}

struct Scale {
  double size;
  std::string_view unit;
};
constexpr double kKi = 1024;
constexpr std::array kCapacity = {
    Scale{1, "B"},
    Scale{kKi, "KiB"},
    Scale{kKi * kKi, "MiB"},
    Scale{kKi * kKi * kKi, "GiB"},
    Scale{kKi * kKi * kKi * kKi, "TiB"},
    Scale{kKi * kKi * kKi * kKi * kKi, "PiB"},
};
constexpr std::array kByteRate = {
    Scale{1, "B/s"},    Scale{1e3, "KB/s"},  Scale{1e6, "MB/s"},
    Scale{1e9, "GB/s"}, Scale{1e12, "TB/s"},
};
constexpr std::array kFlopRate = {
    Scale{1, "FLOP/s"},
    Scale{1e9, "GFLOP/s"},
    Scale{1e12, "TFLOP/s"},
};
constexpr std::array kWork = {
    Scale{1, "FLOP"},     Scale{1e6, "MFLOP"},  Scale{1e9, "GFLOP"},
    Scale{1e12, "TFLOP"}, Scale{1e15, "PFLOP"},
};
constexpr std::array kTime = {
    Scale{1e-9, "ns"}, Scale{1e-6, "µs"}, Scale{1e-3, "ms"}, Scale{1, "s"}, Scale{60, "min"},
};

// Capacity: a fourth digit below ten only where it makes the number exact (1.125 KiB).
int capacity_digits(double x) {
  double unit = 1;
  while (std::fabs(x) >= unit * kKi) unit *= kKi;
  const double thousandths = x / unit * 1000;
  return std::fabs(x) >= 9.995 * unit || thousandths == std::floor(thousandths) ? 4 : 3;
}

// In the largest unit of which it has at least one, after rounding.
std::string scaled(double x, std::span<const Scale> scales, int digits) {
  const Scale* best = &scales.front();
  const double slack = 1 - 0.5 * std::pow(10, -digits);  // 1023.96 MiB is 1.00 GiB
  for (const Scale& s : scales)
    if (std::fabs(x) >= s.size * slack) best = &s;
  return fmt::format("{} {}", significant(x / best->size, digits, 3), best->unit);
}

std::string rate(double x) {
  if (std::fabs(x) >= 1000) return grouped(fmt::format("{:.0f}", x));
  if (std::fabs(x) >= 10) return fmt::format("{:.1f}", x);
  return significant(x, 3, 3);
}

}  // namespace

std::string shown(double x, Show show) {
  if (!std::isfinite(x)) return std::string(kAbsent);
  switch (show) {
    case Show::bytes:
      return std::fabs(x) < kKi && x == std::floor(x) ? grouped(fmt::format("{:.0f} B", x))
                                                      : scaled(x, kCapacity, capacity_digits(x));
    case Show::tokens:
    case Show::count:
      return significant(x, 4, 0);
    case Show::flops:
      return scaled(x, kWork, 4);
    case Show::rate_bytes:
      return scaled(x, kByteRate, 4);
    case Show::rate_flops:
      return scaled(x, kFlopRate, 4);
    case Show::seconds:
      return x == 0 ? "0 s" : scaled(x, kTime, 3);
    case Show::tokens_per_second:
      return rate(x);
    case Show::percent:
      return significant(std::round(x * 1e3) / 10, 4, 0) + "%";
    case Show::ratio:
      return "×" + significant(x, 3, 0);
    case Show::usd:
      return "$" + significant(x, 3, std::fabs(x) < 100 ? 3 : 0);
    case Show::plain:
      break;
  }
  const bool ordinary = x == 0 || (std::fabs(x) >= 1e-4 && std::fabs(x) < 1e15);
  return ordinary ? significant(x, 4, 0) : fmt::format("{:.3e}", x);
}

std::string shown(std::int64_t n, Show show) {
  if (show == Show::plain) return fmt::format("{}", n);
  if (show == Show::tokens || show == Show::count) return grouped(fmt::format("{}", n));
  return shown(static_cast<double>(n), show);
}

std::string shown(const Value& value) {
  struct {
    Show show;
    std::string operator()(std::monostate) const { return std::string(kAbsent); }
    std::string operator()(bool b) const { return b ? "yes" : "no"; }
    std::string operator()(std::int64_t n) const { return shown(n, show); }
    std::string operator()(double x) const { return shown(x, show); }
    std::string operator()(const std::string& s) const {
      return s.empty() ? std::string(kAbsent) : clean(s);
    }
    std::string operator()(const Array& items) const {
      std::string text;
      for (const Value& item : items) text += (text.empty() ? "" : ", ") + shown(item);
      return text.empty() ? std::string(kAbsent) : text;
    }
    std::string operator()(const Object& members) const {
      std::string text;
      for (const auto& [key, item] : members)
        text += (text.empty() ? "" : ", ") + clean(key) + " " + shown(item);
      return text.empty() ? std::string(kAbsent) : text;
    }
  } visitor{value.show};
  return std::visit(visitor, value.v);
}

}  // namespace kvplan
