// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cost/decode.h"
#include "cost/devices.h"
#include "cost/machine_step.h"
#include "cost/pooled.h"
#include "model/shapes.h"

using namespace kvplan;

namespace {

Deployment in_fp16() {
  Deployment d;
  d.cache = cache_formats("fp16");
  return d;
}

// One GPU of 1 TB/s on a link of 20 GB/s, a host of 50 GB/s.
Machine small_machine() {
  Machine m;
  m.gpus = {devices::plain(1e12, 100e12)};
  m.gpus[0].host = Link{"PCIe", {BytesPerSecond(20e9), "", false}};
  m.host = devices::plain(50e9, 1e12);
  return m;
}

// The first `on_host` layers on the host, with their caches; the rest and the output on the GPU.
Assignment first_on_host(const ModelSpec& model, std::size_t on_host) {
  Assignment where;
  where.parts = 2;
  where.table = 1;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::size_t part = i < on_host ? 1 : 0;
    where.weights.emplace_back(model.layers[i].weights.size(), part);
    where.caches.push_back(part);
    where.unloaded.push_back(false);
  }
  return where;
}

}  // namespace

TEST_CASE("parts in turn take the sum of their times, all at once the longest") {
  const ModelSpec model = shapes::llama();  // 202,375,168 parameters a layer and two norms of 4,096
  const MachineModel half(model, in_fp16(), small_machine(), first_on_host(model, 16), {});
  const MachineTime t = half.step(Tokens(1), 1);
  const double layer = 2 * 202375168.0 + 2 * 2 * 8192;  // 16 bits, and one cached token
  const double host = 16 * layer + 2 * 4096;            // and a row of the table
  const double gpu = 16 * layer + 2 * (32000 * 4096.0 + 4096);
  CHECK(t.ceiling->v == doctest::Approx(host / 50e9).epsilon(1e-4));
  CHECK(t.bound == Bound::host);
  // One crossing to the GPU of 4,096 fp32 numbers, and 32,000 logits back.
  const double link = (4096 + 32000) * 4 / 20e9;
  CHECK(t.in_turn->v == doctest::Approx(host / 50e9 + gpu / 1e12 + link).epsilon(1e-4));
  CHECK(t.copied.n == 0);
}

TEST_CASE("a machine's ceiling with everything on its GPU is the GPU's own") {
  const ModelSpec model = shapes::llama3_8b();
  const Machine machine = small_machine();
  const MachineModel parts(model, in_fp16(), machine, first_on_host(model, 0), {});
  const DecodeModel alone(model, in_fp16(), machine.gpus[0]);
  // But for the row of the token table, which the host reads.
  CHECK(parts.step(Tokens(4096), 1).ceiling->v ==
        doctest::Approx(alone.at(Tokens(4096), 1).seconds->v).epsilon(1e-5));
}

TEST_CASE("more layers on the GPU never make the parts in turn slower") {
  const ModelSpec model = shapes::llama3_8b();
  double last = 1e9;
  for (const std::size_t on_host : {32UL, 20UL, 5UL, 0UL}) {
    const MachineModel m(model, in_fp16(), small_machine(), first_on_host(model, on_host), {});
    const double seconds = m.step(Tokens(2048), 4).in_turn->v;
    CHECK(seconds <= last);
    last = seconds;
  }
}

TEST_CASE("the parts in turn never beat the ceiling") {
  const ModelSpec model = shapes::gpt_oss_120b();
  for (const std::size_t on_host : {0UL, 7UL, 36UL}) {
    const MachineModel m(model, in_fp16(), small_machine(), first_on_host(model, on_host), {});
    for (const std::int64_t n : {1, 31, 32, 200}) {
      const MachineTime step = m.step(Tokens(1000), n);
      CHECK(*step.ceiling <= *step.in_turn);
      const MachineTime prompt = m.prompt(Tokens(n), 1);
      CHECK(*prompt.ceiling <= *prompt.in_turn);
    }
  }
}

TEST_CASE("passes of 32 tokens and more copy the host's matrices to the GPU") {
  const ModelSpec model = shapes::llama();
  const MachineModel m(model, in_fp16(), small_machine(), first_on_host(model, 16), {});
  CHECK(m.prompt(Tokens(31), 1).copied.n == 0);
  const MachineTime once = m.prompt(Tokens(512), 1), twice = m.prompt(Tokens(1024), 1);
  CHECK(once.copied.n == 16L * 202375168 * 2);
  CHECK(twice.copied.n == 2 * once.copied.n);
  TurnRules stays;
  stays.copies_from.reset();
  const MachineModel kept(model, in_fp16(), small_machine(), first_on_host(model, 16), stays);
  CHECK(kept.prompt(Tokens(512), 1).copied.n == 0);
}

TEST_CASE("nothing is said of a machine whose host is not known and has work to do") {
  const ModelSpec model = shapes::llama();
  Machine machine = small_machine();
  machine.host.reset();
  const MachineModel split(model, in_fp16(), machine, first_on_host(model, 16), {});
  CHECK_FALSE(split.step(Tokens(1), 1).ceiling);
  CHECK_FALSE(split.step(Tokens(1), 1).in_turn);
  const MachineModel whole(model, in_fp16(), machine, first_on_host(model, 0), {});
  CHECK(whole.step(Tokens(1), 1).ceiling);
  CHECK(whole.step(Tokens(1), 1).in_turn);
}

TEST_CASE("work that any device may do is bounded by all of them together") {
  const DeviceSpec a = devices::plain(1, 3e12), b = devices::plain(1, 1e12);
  const DeviceSpec* both[] = {&a, &b};
  const Demanded work[] = {{&format_named("fp16"), 8e12}};
  CHECK(pooled_arithmetic(work, both)->v == doctest::Approx(2));
  // A device that is fast at one kind takes it: a does fp16 at 1, b does q8_0 at 1, each in 1 s.
  DeviceSpec c = devices::plain(1, 1e12), d = devices::plain(1, 0.1e12);
  d.peaks.push_back({Precision::int8, false, {FlopsPerSecond(1e12), "", false}});
  const DeviceSpec* pair[] = {&c, &d};
  const Demanded mixed[] = {{&format_named("fp16"), 1e12}, {&format_named("q8_0"), 1e12}};
  CHECK(pooled_arithmetic(mixed, pair)->v <= 1.0);
  const DeviceSpec dumb = devices::plain(1);
  const DeviceSpec* with_dumb[] = {&a, &dumb};
  CHECK_FALSE(pooled_arithmetic(work, with_dumb));
}
