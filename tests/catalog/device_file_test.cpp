// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_file.h"

#include <doctest/doctest.h>

#include <string>

#include "error.h"

using namespace kvplan;

namespace {

std::string with(const std::string& line) {
  return "name: x\ntitle: X\nsource: datasheet\nmemory: {marketed: 24 GiB, visible: 23 GiB}\n" +
         line + "\n";
}
const std::string kBandwidth = "bandwidth: {peak: 1008 GB/s}\n";

}  // namespace

TEST_CASE("a number takes the source of its own map, else of its section, else of the file") {
  const DeviceSpec device = read_device(
      parse_yaml(with("bandwidth:\n  source: section\n  peak: 1008 GB/s\n"
                      "  measured: {value: 0.9 TB/s, source: own}\npeaks: {bf16: 165.2 TFLOPS}")));
  CHECK(device.bandwidth.value == BytesPerSecond(1008e9));
  CHECK(device.bandwidth.source == "section");
  REQUIRE(device.bandwidth_measured);
  CHECK(device.bandwidth_measured->value == BytesPerSecond(0.9e12));
  CHECK(device.bandwidth_measured->source == "own");
  REQUIRE(device.peaks.size() == 1);
  CHECK(device.peaks[0].rate.source == "datasheet");
  CHECK(device.peaks[0].rate.value == FlopsPerSecond(165.2e12));
  CHECK(device.memory.value == Bytes(23 * kGiB));
}

TEST_CASE("a number without a source is refused unless it is marked unverified") {
  const std::string text = "name: x\nmemory: {marketed: 1 GiB, visible: 1 GiB, unverified: true}\n";
  const DeviceSpec device =
      read_device(parse_yaml(text + "bandwidth: {peak: {value: 1 GB/s, unverified: true}}\n"));
  CHECK(device.bandwidth.unverified);
  CHECK(device.memory.unverified);
  try {
    read_device(parse_yaml(text + "bandwidth: {peak: 1 GB/s}\n"));
    FAIL("the bandwidth has no source");
  } catch (const Error& e) {
    CHECK(e.key == "peak");
    CHECK(e.line == 3);
  }
}

TEST_CASE("half accumulation is a peak of its own") {
  const DeviceSpec device = read_device(
      parse_yaml(with(kBandwidth + "peaks: {fp16: 165 TFLOPS, fp16_half_accumulate: 330 TFLOPS}")));
  REQUIRE(device.peaks.size() == 2);
  CHECK_FALSE(device.peaks[0].half_accumulate);
  CHECK(device.peaks[1].half_accumulate);
  CHECK(device.peaks[1].precision == Precision::fp16);
}

TEST_CASE("one of several memory sizes can be asked for") {
  const Node file = parse_yaml(
      "name: m\ntitle: M\nsource: s\nmemory:\n  marketed: 128 GiB\n  visible: 96 GiB\n"
      "  sizes: [{marketed: 64 GiB, visible: 48 GiB}]\n" +
      kBandwidth);
  CHECK(read_device(file).memory.value == Bytes(96 * kGiB));
  CHECK(read_device(file, "64 GiB").memory.value == Bytes(48 * kGiB));
  CHECK(read_device(file, "64 GiB").memory_marketed.value == Bytes(64 * kGiB));
  CHECK(read_device(file, "64 GiB").name == "m-64gb");
}

TEST_CASE("a wrong unit, an unknown key and a missing part are named") {
  const auto key_of = [](const std::string& text) {
    try {
      read_device(parse_yaml(text));
    } catch (const Error& e) {
      return e.key;
    }
    return std::string("nothing thrown");
  };
  CHECK(key_of(with("bandwidth: {peak: 1008 GiB}")) == "peak");
  CHECK(key_of(with("bandwidth: {peak: 1008}")) == "peak");
  CHECK(key_of(with("bandwidth: {peak: -1 GB/s}")) == "peak");
  CHECK(key_of(with("bandwidth: {peek: 1008 GB/s}")) == "peek");
  CHECK(key_of(with(kBandwidth + "peaks: {fp7: 1 TFLOPS}")) == "fp7");
  CHECK(key_of(with("peaks: {}")) == "bandwidth");
  CHECK(key_of(with(kBandwidth + "price: {usd_per_hour: [2, 1], where: a, date: b}")) == "price");
}
