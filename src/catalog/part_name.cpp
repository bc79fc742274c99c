// SPDX-License-Identifier: Apache-2.0
#include "catalog/part_name.h"

#include <algorithm>
#include <charconv>

namespace kvplan {
namespace {

constexpr std::int64_t kMostParts = 10'000;
constexpr std::string_view kForm = "-00000-of-00000";

std::string padded(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
}

}  // namespace

std::string PartName::at(std::int64_t n) const {
  return stem + "-" + padded(n) + "-of-" + padded(count) + ending;
}

std::optional<PartName> part_name(std::string_view path, std::string_view ending) {
  if (!path.ends_with(ending) || path.size() <= kForm.size() + ending.size()) return std::nullopt;
  const std::size_t start = path.size() - kForm.size() - ending.size();
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const char c = path[start + i];
    if (kForm[i] == '0' ? c < '0' || c > '9' : c != kForm[i]) return std::nullopt;
  }
  PartName name{std::string(path.substr(0, start)), std::string(ending)};
  const char* digits = path.data() + start;
  std::from_chars(digits + 1, digits + 6, name.number);
  std::from_chars(digits + 10, digits + 15, name.count);
  if (name.number < 1 || name.number > name.count || name.count > kMostParts) return std::nullopt;
  return name;
}

}  // namespace kvplan
