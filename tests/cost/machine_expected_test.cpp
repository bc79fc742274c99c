// SPDX-License-Identifier: Apache-2.0
// What profiles of a machine's parts expect of a prompt, with laws that take a fixed time a kernel.
#include <doctest/doctest.h>

#include <memory>

#include "cost/devices.h"
#include "cost/machine_parts.h"
#include "model/shapes.h"

using namespace kvplan;

namespace {

Fit fit_of(OperatorClass op, const OperatorLaw& law) {
  Fit fit;
  fit.op = op;
  fit.format = "fp16";
  fit.law = law;
  fit.bands = {{Seconds(1), 0.9, 1.2}};
  return fit;
}

// A product takes `product`, attention twice as long, whatever their sizes.
std::shared_ptr<const Profile> profile_of(Seconds product) {
  GemmLaw gemm;
  gemm.floor = product;
  gemm.bandwidth = BytesPerSecond(1e17);
  gemm.ramp_size = ByteScale(1e7);
  gemm.rate = FlopsPerSecond(1e22);
  PrefillAttentionLaw attention;
  attention.floor = 2 * product;
  attention.bandwidth = attention.write = BytesPerSecond(1e17);
  attention.rate = FlopsPerSecond(1e22);
  auto profile = std::make_shared<Profile>();
  profile->fits = {fit_of(OperatorClass::gemm, gemm),
                   fit_of(OperatorClass::prefill_attention, attention)};
  return profile;
}

constexpr double kMs = 1e-3;

// GPUs whose products take 1 and 3 ms; a host whose products take 10 ms.
Machine machine_of(std::size_t gpus) {
  Machine m;
  for (std::size_t i = 0; i < gpus; ++i) {
    m.gpus.push_back(devices::plain(1e12, 100e12));
    m.gpus.back().host = Link{"PCIe", {BytesPerSecond(20e9), "", false}};
    m.gpu_profiles.push_back(profile_of(Seconds(i == 0 ? kMs : 3 * kMs)));
  }
  m.host = devices::plain(50e9, 1e12);
  m.host_profile = profile_of(Seconds(10 * kMs));
  return m;
}

// The first 16 of 32 layers on one part, the others and the output on another; the host has the
// token table.
Assignment halves(const ModelSpec& model, std::size_t first, std::size_t rest, std::size_t host) {
  Assignment where;
  where.parts = host + 1;
  where.table = where.vision = host;
  where.output = rest;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::size_t part = i < 16 ? first : rest;
    where.weights.emplace_back(model.layers[i].weights.size(), part);
    where.caches.push_back(part);
    where.unloaded.push_back(false);
  }
  return where;
}

struct Case {
  ModelSpec model = shapes::llama3_8b();
  Deployment deployment;
  TurnRules rules;

  Case() {
    for (Layer& layer : model.layers)
      for (Weight& w : layer.weights) w.format = &format_named("fp16");
    for (Weight& w : model.ends) w.format = &format_named("fp16");
    deployment.cache = cache_formats("fp16");
    rules.copies_from.reset();
  }
  Expected of(const Machine& machine, const Assignment& where, std::int64_t prompt,
              std::int64_t batch = 1) const {
    return prompt_expected(model, deployment, machine, where, rules, Tokens(prompt), batch,
                           Seconds(0));
  }
};

// q, k and v as one, o, gate and up as one, down; and attention: 6 ms a layer, 96 ms a half.
constexpr double kHalf = 16 * 6 * kMs, kHead = kMs;

}  // namespace

TEST_CASE("a prompt takes its kernels once for each pass, and the head once") {
  const Case c;
  const Machine machine = machine_of(1);
  const Assignment where = halves(c.model, 0, 0, 1);
  const auto seconds = [&](std::int64_t prompt, std::int64_t batch = 1) {
    const Expected e = c.of(machine, where, prompt, batch);
    REQUIRE_MESSAGE(e.time, e.why_not);
    CHECK(e.time->low.v == doctest::Approx(0.9 * e.time->value.v));
    CHECK(e.time->high.v == doctest::Approx(1.2 * e.time->value.v));
    return e.time->value.v;
  };
  CHECK(seconds(512) == doctest::Approx(2 * kHalf + kHead).epsilon(1e-3));
  CHECK(seconds(513) == doctest::Approx(2 * (2 * kHalf) + kHead).epsilon(1e-3));
  CHECK(seconds(2048) == doctest::Approx(4 * (2 * kHalf) + kHead).epsilon(1e-3));
  CHECK(seconds(2048, 3) == doctest::Approx(3 * seconds(2048)));
}

TEST_CASE("a host that multiplies what it holds adds its own time") {
  const Case c;
  const Machine machine = machine_of(1);
  const Expected e = c.of(machine, halves(c.model, 1, 0, 1), 1024);
  REQUIRE(e.time);
  CHECK(e.time->value.v == doctest::Approx(2 * (10 * kHalf + kHalf) + kHead).epsilon(1e-3));
}

TEST_CASE("GPUs that work on several passes wait for the slowest, and at the end for each other") {
  Case c;
  const Machine machine = machine_of(2);
  const Assignment where = halves(c.model, 0, 1, 2);
  const double in_turn = c.of(machine, where, 2048).time->value.v;
  CHECK(in_turn == doctest::Approx(4 * (kHalf + 3 * kHalf) + 3 * kHead).epsilon(1e-3));
  c.rules.overlaps_passes = true;
  CHECK(c.of(machine, where, 2048).time->value.v ==
        doctest::Approx(3 * (3 * kHalf) + (kHalf + 3 * kHalf) + 3 * kHead).epsilon(1e-3));
}

// Nothing that a profile holds says how fast matrices reach a GPU.
TEST_CASE("no time is expected where the host sends matrices to a GPU, or of an unknown part") {
  Case c;
  c.rules.copies_from = 32;
  Machine machine = machine_of(1);
  const Assignment mixed = halves(c.model, 1, 0, 1);
  const Expected copied = c.of(machine, mixed, 1024);
  CHECK_FALSE(copied.time);
  CHECK(copied.why_not.find("sends to a GPU") != std::string::npos);
  CHECK(c.of(machine, mixed, 31).time);
  CHECK(c.of(machine, halves(c.model, 0, 0, 1), 1024).time);
  machine.host_profile.reset();
  CHECK(c.of(machine, mixed, 31).why_not.find("no profile of") == 0);
  machine.gpu_profiles.clear();
  CHECK(c.of(machine, mixed, 31).why_not == "no profile");
}
