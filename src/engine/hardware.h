// SPDX-License-Identifier: Apache-2.0
// Which devices an engine's releases run on, as its file lists them.
#pragma once
#include <string>
#include <vector>

namespace kvplan {

struct EngineOptions;
struct DeviceSpec;

// Devices of a vendor, or processors. Of the lines that hold in a version the last counts.
struct Hardware {
  std::string of;                 // a vendor, "NVIDIA", or "cpu": processors of any vendor
  std::string since;              // "0.20": in this version or a later one; empty: in all
  std::string at_least;           // compute capability, "7.5"; empty: any
  std::vector<std::string> only;  // capabilities by name, "gfx942"; empty: all
  std::string source;
};

// The line that speaks of the device in this version; nullptr where none does.
const Hardware* hardware_line(const EngineOptions&, const DeviceSpec&);

// False where no line speaks of the device, or the line excludes it. True for an engine that lists
// nothing (the ideal) and for a device whose vendor or capability is not known.
bool runs_on(const EngineOptions&, const DeviceSpec&);

}  // namespace kvplan
