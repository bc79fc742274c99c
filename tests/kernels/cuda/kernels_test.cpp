// SPDX-License-Identifier: Apache-2.0
// Every CUDA kernel × format × shape class against the double-precision reference, on the emulated
// device: host code, kernel sources and the check itself are those that a GPU runs.
#include <doctest/doctest.h>

#include "kernels/cuda/bench.h"

using namespace kvplan;
using namespace kvplan::emulation;

TEST_CASE("streams read and copy every byte in all variants, each byte once") {
  Bench bench;
  check(bench, StreamShape{Bytes(300 * 1024 + 16)});
  CHECK(bench.settings.counters.bytes_loaded == 3 * (300 * 1024 + 16));
  check(bench, StreamShape{Bytes(200 * 1024 + 16), true});
  CHECK(bench.settings.counters.bytes_stored == 3 * (200 * 1024 + 16));
}

TEST_CASE("a sample replays a recording of at least ten launches on buffers in turn") {
  Bench bench;
  const auto run = bench.backend->prepare(StreamShape{Bytes(256 * kKiB)});
  run->sample();
  bench.settings.counters = {};
  run->sample();
  CHECK(bench.settings.counters.bytes_loaded == 12 * 256 * kKiB);  // whole turns of 3 slots
  const auto launch = bench.backend->prepare(LaunchShape{});
  CHECK(launch->error() == 0);
  CHECK(launch->sample().v > 0);
}
