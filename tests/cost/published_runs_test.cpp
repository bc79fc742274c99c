// SPDX-License-Identifier: Apache-2.0
#include "cost/published_runs.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

DeviceSpec card() {
  DeviceSpec d;
  d.name = "card";
  d.vendor = "NVIDIA";
  d.architecture = "Ada";
  d.compute_capability = "8.9";
  d.bandwidth = {BytesPerSecond(1e12), "", false};
  d.peaks = {{Precision::fp16, false, {FlopsPerSecond(1e14), "", false}},
             {Precision::int8, false, {FlopsPerSecond(2e14), "", false}}};
  return d;
}

PublishedRuns some_runs() {
  PublishedRuns runs;
  runs.engine = "llama.cpp";
  runs.longest_context = Tokens(4096);
  runs.shortest_prompt = Tokens(512);
  runs.longest_prompt = Tokens(4096);
  runs.formats = {"fp16", "q4_k"};
  runs.vendors = {{"NVIDIA", RunLaw{}}};
  runs.families = {{"NVIDIA Ada 8.9", {PublishedRuns::Offset{1.5, 7}, std::nullopt}}};
  runs.devices = {{"card", {PublishedRuns::Offset{2, 3}, std::nullopt}}};
  PublishedRuns::Width own, other;
  own.low = 0.9, own.high = 1.2;
  other.own = false, other.low = 0.5, other.high = 2;
  runs.widths = {own, other};
  return runs;
}

Launches one_product(const Format& weights) {
  return {{{GemmShape{1, 1000, 1024, &weights}, 10}}, {}};
}

}  // namespace

TEST_CASE("a run takes for each kernel a launch and the longer of its bytes and its operations") {
  RunLaw law;
  law.launch = Seconds(1e-6);
  law.sixteen = 0.5;
  law.rate_sixteen = 0.1;
  const auto time_of = [&](std::int64_t rows) {
    const Launches launches{{{GemmShape{rows, 1000, 1000, find_format("fp16")}, 3}}, {}};
    return time(law, *run_terms(launches, 512), card())->v;
  };
  // 2,000,000 bytes at half of 1 TB/s: 4 us, and a launch of 1 us.
  CHECK(time_of(1) == doctest::Approx(3 * 5e-6));
  // 512 x 2,000,000 operations at a tenth of 100 TFLOP/s: 102.4 us.
  CHECK(time_of(512) == doctest::Approx(3 * 103.4e-6));
  // Two micro-batches launch twice.
  CHECK(time_of(1024) == doctest::Approx(3 * 206.8e-6));
}

TEST_CASE("blocks multiply at the rate of int8 where a device has it") {
  RunLaw law;
  law.launch = Seconds(0);
  law.rate_fewer = 0.5;
  const Launches launches{{{GemmShape{512, 1024, 1024, find_format("q4_k")}, 1}}, {}};
  CHECK(time(law, *run_terms(launches, 512), card())->v ==
        doctest::Approx(2 * 512 * 1024.0 * 1024.0 / 1e14));
}

TEST_CASE("a device with runs of its own is expected by them, another by those like it") {
  const PublishedRuns runs = some_runs();
  const Launches step = one_product(*find_format("fp16"));
  const Seconds law = *time(RunLaw{}, *run_terms(step, 512), card());
  const Expected own = expected(step, runs, card(), {Phase::decode, Tokens(64)});
  REQUIRE(own.time);
  CHECK(own.time->value.v == doctest::Approx(3 * law.v));
  CHECK(own.time->low.v == doctest::Approx(2.7 * law.v));
  CHECK(own.time->high.v == doctest::Approx(3.6 * law.v));
  CHECK(own.rests_on == "3 published runs of llama.cpp on this device");
  DeviceSpec sibling = card();
  sibling.name = "sibling";
  const Expected other = expected(step, runs, sibling, {Phase::decode, Tokens(64)});
  CHECK(other.time->value.v == doctest::Approx(1.5 * law.v));
  CHECK(other.time->high.v == doctest::Approx(3 * law.v));
}

TEST_CASE("nothing is expected beyond what runs tell of, and the reason is said") {
  const PublishedRuns runs = some_runs();
  const Launches step = one_product(*find_format("fp16"));
  const auto why = [&](const Launches& launches, const DeviceSpec& device, const RunAsked& asked) {
    const Expected e = expected(launches, runs, device, asked);
    CHECK_FALSE(e.time);
    return e.why_not;
  };
  DeviceSpec other = card();
  other.compute_capability = "7.5";
  CHECK(why(step, other, {Phase::decode, Tokens(64)}) ==
        "no published run of llama.cpp on such a device");
  CHECK(why(step, card(), {Phase::prefill, Tokens(512)}) ==
        "no published run of llama.cpp on such a device");
  CHECK(why(step, card(), {Phase::decode, Tokens(5000)}) ==
        "no published run of llama.cpp of 5000 tokens");
  CHECK(why(one_product(*find_format("iq2_xs")), card(), {Phase::decode, Tokens(64)}) ==
        "no published run of llama.cpp with weights in iq2_xs");
  CHECK(why({{}, "a recurrent state"}, card(), {Phase::decode, Tokens(64)}) ==
        "no law for a recurrent state");
}

TEST_CASE("chips of one size are alike, and a chip is itself with any memory") {
  DeviceSpec d;
  d.vendor = "Apple";
  d.architecture = "Apple M4 Max";
  d.name = "m4-max-40c-64gb";
  CHECK(run_family(d) == "Apple Max");
  CHECK(run_device(d) == "m4-max-40c");
  d.architecture = "Apple M4";
  CHECK(run_family(d) == "Apple M");
  d.vendor = "AMD";
  d.architecture = "RDNA3";
  d.name = "rx-9060-xt-16gb";
  CHECK(run_family(d) == "AMD RDNA3");
  CHECK(run_device(d) == "rx-9060-xt-16gb");
}
