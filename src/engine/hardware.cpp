// SPDX-License-Identifier: Apache-2.0
#include "engine/hardware.h"

#include <algorithm>

#include "engine/flags.h"

namespace kvplan {
namespace {

bool speaks_of(const Hardware& line, const DeviceSpec& device) {
  return line.of == (device.kind == "cpu" ? device.kind : device.vendor);
}

bool admits(const Hardware& line, const std::string& capability) {
  if (!line.at_least.empty()) return parse_version(capability) >= parse_version(line.at_least);
  return line.only.empty() ||
         std::find(line.only.begin(), line.only.end(), capability) != line.only.end();
}

}  // namespace

const Hardware* hardware_line(const EngineOptions& options, const DeviceSpec& device) {
  const Version version = site_of(options).version;
  const auto& lines = flags_of(options).hardware;
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [&](const Hardware& line) {
    return speaks_of(line, device) && (line.since.empty() || parse_version(line.since) <= version);
  });
  return last == lines.rend() ? nullptr : &*last;
}

bool runs_on(const EngineOptions& options, const DeviceSpec& device) {
  if (flags_of(options).hardware.empty() || device.vendor.empty()) return true;
  const Hardware* line = hardware_line(options, device);
  return line && (!device.compute_capability || admits(*line, *device.compute_capability));
}

}  // namespace kvplan
