// SPDX-License-Identifier: Apache-2.0
#include "cli/local.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "calibrate/local.h"
#include "report/numbers.h"
#include "report/value.h"

namespace kvplan {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool inside = std::isalnum(static_cast<unsigned char>(c)) || c == '+';
    if (inside)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool has_all(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

}  // namespace

bool is_local(std::string_view device) {
  return words_of(device) == std::vector<std::string>{"local"};
}

std::optional<DeviceSpec> part_named_in(const Catalog& catalog, const std::string& title) {
  const std::vector<std::string> words = words_of(title);
  if (words.size() > 1 && words[1] == "x") return std::nullopt;  // "2 x AMD EPYC 9654"
  std::optional<CatalogEntry> best;
  for (const CatalogEntry& entry : catalog.entries("devices"))
    if (has_all(words, words_of(entry.name)) && (!best || best->name.size() < entry.name.size()))
      best = entry;
  return best ? std::optional(catalog.device(best->name)) : std::nullopt;
}

DeviceSpec with_datasheet(DeviceSpec probed, const std::optional<DeviceSpec>& part) {
  if (!part) return probed;
  DeviceSpec device = *part;
  device.name = probed.name;
  device.title = probed.title;
  device.architecture = probed.architecture;
  device.memory = probed.memory;
  device.memory_marketed = probed.memory_marketed;
  device.processors = probed.processors;
  if (probed.last_level_cache) device.last_level_cache = probed.last_level_cache;
  device.price = std::nullopt;
  return device;
}

DeviceSpec device_named(const Catalog& catalog, std::string_view name, std::string* note) {
  if (!is_local(name)) return catalog.device(name, note);
  const DeviceSpec probed = local_backend().backend->device();
  return with_datasheet(probed, part_named_in(catalog, probed.title));
}

DeviceSpec local_host(const Catalog& catalog) {
  const DeviceSpec probed = local_backend("cpu").backend->device();
  return with_datasheet(probed, part_named_in(catalog, probed.title));
}

Assumption about_host(const DeviceSpec& host) {
  return {"--host", "local", Basis::exact,
          fmt::format("{}, {} of memory; {}", host.title, shown(value(host.memory.value)),
                      host.bandwidth.value > BytesPerSecond(0) ? "peaks from its datasheet"
                                                               : "no datasheet of it is known")};
}

Assumption about_local(const DeviceSpec& device) {
  const auto free = local_backend().backend->free_memory();
  return {"DEVICE", "local", Basis::exact,
          fmt::format("{}, {} processors, {}{}; {}", device.title, device.processors.value_or(1),
                      shown(value(device.memory.value)),
                      free ? ", of which " + shown(value(*free)) + " are free now" : "",
                      device.bandwidth.value > BytesPerSecond(0)
                          ? "peaks from its datasheet"
                          : "no datasheet of it is known, so there is no ceiling: kv-plan "
                            "calibrate measures it")};
}

}  // namespace kvplan
