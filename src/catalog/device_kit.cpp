// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_kit.h"

#include <charconv>
#include <cmath>
#include <string>

namespace kvplan {
namespace {

constexpr double kBytesPerTransfer = 8;  // a channel of 64 bits

double bytes_per_second(std::int64_t rate) {
  return static_cast<double>(rate) * 1e6 * kBytesPerTransfer;
}

// Channels behind a file's bandwidth, from its memory type ("DDR5-5600").
std::optional<double> stock_channels(const DeviceSpec& device, const Node& file) {
  const Node* memory = file.find("memory");
  const Node* type = memory ? memory->find("type") : nullptr;
  if (!type) return std::nullopt;
  const TypedDevice stock = typed_device(type->text);
  if (!stock.kit) return std::nullopt;
  return std::round(device.bandwidth.value.v / bytes_per_second(stock.kit->rate));
}

}  // namespace

void fit_memory(DeviceSpec& device, const TypedDevice& typed, const Node& file) {
  if (device.kind != "cpu") return;
  if (typed.kit) {
    std::optional<double> channels = stock_channels(device, file);
    if (typed.kit->channels) channels = static_cast<double>(*typed.kit->channels);
    if (channels) {
      device.bandwidth = {BytesPerSecond(*channels * bytes_per_second(typed.kit->rate)),
                          "channels x transfer rate x 8 bytes, as typed", false};
      device.bandwidth_measured.reset();
    }
  }
  std::int64_t gib = 0;
  std::from_chars(typed.size.data(), typed.size.data() + typed.size.size(), gib);
  if (gib > 0 && gib <= 65536)
    device.memory = device.memory_marketed = {Bytes(gib * kGiB), "as typed", false};
}

bool is_kit_alone(const DeviceSpec& device, const TypedDevice& typed) {
  return typed.kit && device.vendor == "generic" && typed.words.size() == 1 &&
         typed.words[0].starts_with("ddr");
}

void name_after_kit(DeviceSpec& device, const TypedDevice& typed) {
  const double channels = device.bandwidth.value.v / bytes_per_second(typed.kit->rate);
  const auto count = std::to_string(std::llround(channels));
  std::string type = typed.kit_text[0] + "-" + std::to_string(typed.kit->rate);
  device.name = count + "ch-" + type;
  for (char& c : type)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  device.title = count + " channel" + (count == "1" ? "" : "s") + " of " + type;
  if (typed.size.empty()) return;
  device.name += "-" + typed.size;
  device.title += ", " + typed.size.substr(0, typed.size.size() - 2) + " GiB";
}

}  // namespace kvplan
