// SPDX-License-Identifier: Apache-2.0
// kv-plan devices [FILTER]: the catalog's devices with their sources.
#include <fmt/format.h>

#include "catalog/names.h"
#include "cli/answer.h"
#include "cli/choices.h"
#include "cli/listing.h"
#include "cli/loads.h"
#include "cli/local.h"
#include "report/device.h"

namespace kvplan {
namespace {

Object device_row(const DeviceSpec& device) {
  std::optional<double> price;
  if (device.price) price = device.price->usd_per_hour_low;
  Object row = object(device);
  row.emplace_back("peak_16_bit", value(device.peak_for(format_named("fp16"))));
  row.emplace_back("peak_8_bit", value(device.peak_for(format_named("fp8"))));
  row.emplace_back("usd_per_hour", value(price, Show::usd));
  row.emplace_back("bandwidth_source", value(device.bandwidth.source));
  row.emplace_back("memory_source", value(device.memory.source));
  return row;
}

bool is_of(const DeviceSpec& device, const std::string& filter) {
  return normalized(device.vendor) == filter || normalized(device.kind) == filter;
}

// The catalog's names that a filter means: of parts, a vendor ("amd") or a kind ("cpu"). The part
// that it names as people write it goes first.
std::vector<std::string> devices_named(const Request& request, const Catalog& catalog) {
  const auto& filter = request.filter;
  if (filter && is_local(*filter)) return {*filter};
  std::vector<std::string> names;
  if (filter && catalog.has_device(catalog.counted(*filter).name))
    names.push_back(catalog.device(catalog.counted(*filter).name).name);
  const std::string part = names.empty() ? "" : names.front();
  for (const CatalogEntry& entry : catalog.entries("devices"))
    if (entry.name != part &&
        (wanted(request, entry) || is_of(catalog.device(entry.name), normalized(*filter))))
      names.push_back(entry.name);
  if (names.empty()) catalog.device(*filter);  // throws, with the near misses
  return names;
}

}  // namespace

Answer answer_devices(const Request& request, const Catalog& catalog) {
  const std::vector<std::string> names = devices_named(request, catalog);
  if (request.for_model) return answer_choices(request, catalog, names);
  if (asks_load(request))
    throw Error("are of a model that is to be served")
        .of("--users, --context and --batch")
        .advise("Name it: --for MODEL.");
  Array rows;
  for (const std::string& name : names)
    rows.push_back(value(device_row(device_named(catalog, name))));
  Document document;
  document.command = "devices";
  document.title = "Devices";
  document.lead = {fmt::format("{} device{}. Peaks are dense and the highest that are published.",
                               rows.size(), rows.size() == 1 ? "" : "s")};
  document.body.emplace_back("devices", Value{std::move(rows)});
  document.tables = {{"devices",
                      "",
                      {{"device", "name"},
                       {"", "title"},
                       {"memory", "memory_bytes"},
                       {"bandwidth", "bandwidth_bytes_per_second"},
                       {"measured", "bandwidth_measured_bytes_per_second"},
                       {"16 bit", "peak_16_bit"},
                       {"8 bit", "peak_8_bit"},
                       {"cache", "last_level_cache_bytes"},
                       {"$/h", "usd_per_hour"},
                       {"", "bandwidth_source"},
                       {"", "memory_source"}},
                      {},
                      {}}};
  return {std::move(document), 0, {}};
}

}  // namespace kvplan
