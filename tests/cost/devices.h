// SPDX-License-Identifier: Apache-2.0
// Devices written by hand with round numbers, and one with a datasheet's.
#pragma once
#include "cost/device.h"

namespace kvplan::devices {

// A rate of memory and one 16-bit peak, nothing else.
inline DeviceSpec plain(double bandwidth, double flops = 0) {
  DeviceSpec d;
  d.name = "plain";
  d.memory.value = Bytes(80 * kGiB);
  d.bandwidth.value = BytesPerSecond(bandwidth);
  if (flops > 0) d.peaks = {{Precision::fp16, false, {FlopsPerSecond(flops), "", false}}};
  return d;
}

// NVIDIA H100 SXM5 (datasheet): 3.35 TB/s, 989 TFLOPS bf16, 1979 fp8 and int8, 450 GB/s of NVLink
// per direction, 50 MB of L2.
inline DeviceSpec h100() {
  DeviceSpec d = plain(3.35e12);
  d.name = "h100-sxm";
  d.peaks = {{Precision::bf16, false, {FlopsPerSecond(989e12), "", false}},
             {Precision::fp8, false, {FlopsPerSecond(1979e12), "", false}},
             {Precision::int8, false, {FlopsPerSecond(1979e12), "", false}}};
  d.last_level_cache = Fact<Bytes>{Bytes(50 * kMiB), "", false};
  d.peer = Link{"NVLink4", {BytesPerSecond(450e9), "", false}};
  return d;
}

}  // namespace kvplan::devices
