// SPDX-License-Identifier: Apache-2.0
#include "plan/split_options.h"

#include <doctest/doctest.h>

#include <cmath>

#include "cost/devices.h"
#include "engine/options.h"
#include "model/shapes.h"

using namespace kvplan;
using namespace kvplan::llamacpp;

namespace {

// Eight layers of which the experts are most: 16 of 256 x 512, four of them read.
ModelSpec small_moe() {
  ModelSpec model = shapes::with_ends(512, 1000);
  for (int i = 0; i < 8; ++i) {
    Layer layer;
    layer.mixer = shapes::attention(8, 8, 64, 64);
    layer.weights = shapes::attention_weights(layer.mixer, 512);
    layer.weights.push_back(
        shapes::matrix("mlp.gate", Role::router, 16, 512, Sharding::replicated));
    layer.weights.push_back(shapes::experts("mlp.experts.*.up_proj", 16, 4, 256, 512));
    layer.weights.push_back(shapes::experts("mlp.experts.*.down_proj", 16, 4, 512, 256));
    model.layers.push_back(std::move(layer));
  }
  return model;
}

DeviceSpec gpu(double bandwidth, std::int64_t mebibytes) {
  DeviceSpec d = devices::plain(bandwidth, 1e14);
  d.memory.value = Bytes(mebibytes * kMiB);
  d.host = Link{"PCIe", {BytesPerSecond(16e9), "", false}};
  return d;
}

Machine machine_of(std::vector<DeviceSpec> gpus) {
  Machine machine;
  machine.gpus = std::move(gpus);
  machine.host = devices::plain(50e9, 1e12);
  return machine;
}

Setup setup_of(const ModelSpec& model, std::map<std::string, std::string> settings = {}) {
  Setup setup;
  setup.model = model;
  setup.deployment.cache = cache_formats("fp16");
  setup.engine = test::engine_options("llama.cpp");
  setup.engine.reserve = Bytes(0);
  setup.engine.settings = std::move(settings);
  return setup;
}

// The next way of giving `layers` layers to so many GPUs; starts from no shares.
bool next_division(std::vector<double>& shares, std::size_t gpus, std::int64_t layers) {
  if (shares.empty()) {
    shares.assign(gpus, 0);
    shares.back() = static_cast<double>(layers);
    return true;
  }
  for (std::size_t g = gpus - 1; g-- > 0;) {
    double behind = 0;
    for (std::size_t k = g + 1; k < gpus; ++k) behind += shares[k];
    if (behind == 0) continue;
    ++shares[g];
    for (std::size_t k = g + 1; k < gpus; ++k) shares[k] = 0;
    shares.back() = behind - 1;
    return true;
  }
  return false;
}

// Every split that the flags can say, by the whole account and the whole law.
std::optional<Seconds> fastest_of_all(const Setup& setup, const Machine& machine,
                                      const Load& load) {
  const PartAccount account(setup.engine, setup.model, setup.deployment, machine);
  std::optional<Seconds> best, best_with_cache_on_host;
  const std::int64_t all = countable_layers(setup.model);
  const auto judge = [&](const Split& split) {
    const Assignment where = account.assigned(split);
    if (!account.fits(where, load.context, load.batch)) return;
    const MachineModel m(setup.model, setup.deployment, machine, where,
                         turn_rules(setup, machine, split));
    const Seconds t = *m.step(load.context, load.batch).in_turn;
    auto& least = split.cache_on_host ? best_with_cache_on_host : best;
    if (!least || t < *least) least = t;
  };
  for (std::int64_t layers = 0; layers <= all; ++layers)
    for (std::int64_t moe = 0; moe < all; ++moe)
      for (const bool on_host : {false, true}) {
        Split split;
        split.gpu_layers = layers;
        split.cpu_moe = moe;
        split.cache_on_host = on_host;
        if (machine.gpus.size() == 1 || layers == 0) judge(split);
        if (machine.gpus.size() > 1 && layers > 0)
          for (split.shares = {};;) {
            if (!next_division(split.shares, machine.gpus.size(), layers)) break;
            judge(split);
          }
      }
  // The cache goes to the host only where a step gains a tenth.
  if (best_with_cache_on_host && (!best || *best_with_cache_on_host * 1.1 < *best))
    return best_with_cache_on_host;
  return best;
}

std::optional<Seconds> time_of(const Setup& setup, const Machine& machine, const Load& load) {
  const SplitChoice choice = best_split(setup, machine, load);
  if (!choice.fits) return std::nullopt;
  const MachineModel m(setup.model, setup.deployment, machine, choice.where,
                       turn_rules(setup, machine, choice.split));
  return m.step(load.context, load.batch).in_turn;
}

}  // namespace

TEST_CASE("the search finds what trying every split finds") {
  const Setup setup = setup_of(small_moe());
  for (const std::int64_t mebibytes : {407, 420, 430, 440, 450, 460, 480, 600})
    for (const Load load : {Load{Tokens(256), 1}, Load{Tokens(4096), 1}, Load{Tokens(1024), 8}}) {
      const Machine machine = machine_of({gpu(1e12, mebibytes)});
      const auto found = time_of(setup, machine, load);
      const auto best = fastest_of_all(setup, machine, load);
      CAPTURE(mebibytes);
      CAPTURE(load.context.n);
      REQUIRE(best.has_value() == found.has_value());
      if (best) CHECK(found->v == doctest::Approx(best->v).epsilon(1e-12));
    }
}

TEST_CASE("two unequal GPUs are filled as trying every division fills them") {
  const Setup setup = setup_of(small_moe());
  const Load load{Tokens(1024), 1};
  for (const std::int64_t mebibytes : {415, 425, 440}) {
    for (const double second : {0.3e12, 2e12}) {
      const Machine machine = machine_of({gpu(1e12, mebibytes), gpu(second, 430)});
      const auto found = time_of(setup, machine, load);
      REQUIRE(found);
      CHECK(found->v == doctest::Approx(fastest_of_all(setup, machine, load)->v).epsilon(1e-12));
    }
  }
}

// Five layers, so that every division over three and four GPUs can be tried. Links and the order in
// which experts leave the GPUs are not in the sums that the search adds up: a fiftieth at most.
TEST_CASE("three and four unequal GPUs are filled as well as trying every division fills them") {
  ModelSpec model = small_moe();
  model.layers.resize(5);
  const Setup setup = setup_of(model);
  double worst = 1;
  const auto compare = [&](const std::vector<DeviceSpec>& gpus) {
    const Load load{Tokens(1024), 1};
    const auto found = time_of(setup, machine_of(gpus), load);
    const auto best = fastest_of_all(setup, machine_of(gpus), load);
    REQUIRE(best.has_value() == found.has_value());
    if (best) worst = std::max(worst, found->v / best->v);
  };
  std::uint32_t state = 1;
  const auto draw = [&](std::uint32_t below) {  // Numerical Recipes' generator
    state = state * 1'664'525 + 1'013'904'223;
    return static_cast<std::int64_t>((state >> 16) % below);
  };
  for (int i = 0; i < 24; ++i) {
    std::vector<DeviceSpec> gpus;
    for (int g = 0; g < 3; ++g)
      gpus.push_back(gpu(1e11 * static_cast<double>(1 + draw(25)), 405 + draw(25)));
    compare(gpus);
  }
  compare({gpu(0.3e12, 410), gpu(1e12, 412), gpu(0.5e12, 414), gpu(2e12, 416)});
  CHECK(worst < 1.02);
}

TEST_CASE("equal GPUs in a row share their layers, none stays idle") {
  const Setup setup = setup_of(small_moe());
  const Machine machine = machine_of({gpu(1e12, 425), gpu(0.5e12, 600), gpu(0.5e12, 600)});
  const SplitChoice choice = best_split(setup, machine, {Tokens(1024), 1});
  REQUIRE(choice.fits);
  REQUIRE(choice.split.shares.size() == 3);
  CHECK(choice.split.gpu_layers == 9);
  CHECK(choice.split.shares[0] > 0);
  CHECK(choice.split.shares[1] >= 1);
  CHECK(std::abs(choice.split.shares[1] - choice.split.shares[2]) <= 1);
}

TEST_CASE("a host that reads faster than a GPU keeps what it reads faster") {
  const Setup setup = setup_of(small_moe());
  const Load load{Tokens(1024), 1};
  for (const std::int64_t mebibytes : {420, 440, 600}) {
    Machine machine = machine_of({gpu(0.2e12, mebibytes)});
    machine.host = devices::plain(400e9, 1e12);
    const auto found = time_of(setup, machine, load);
    const auto best = fastest_of_all(setup, machine, load);
    REQUIRE(found);
    CHECK(found->v <= best->v * 1.02);
  }
}

TEST_CASE("flags that the user gives stay as they are") {
  const Machine machine = machine_of({gpu(1e12, 600)});
  const Load load{Tokens(256), 1};
  const Setup some = setup_of(small_moe(), {{"n_gpu_layers", "5"}, {"n_cpu_moe", "6"}});
  const SplitChoice choice = best_split(some, machine, load);
  CHECK(choice.fits);
  CHECK(choice.split.gpu_layers == 5);
  CHECK(choice.split.cpu_moe == 6);
  const Setup kept = setup_of(small_moe(), {{"no_kv_offload", "true"}});
  CHECK(best_split(kept, machine, load).split.cache_on_host);
  const Setup matched = setup_of(small_moe(), {{"override_tensor", "exps=CPU"}});
  const SplitChoice over = best_split(matched, machine, load);
  CHECK(over.split.gpu_layers == 9);
  CHECK(over.split.cpu_moe == 0);
  CHECK(over.where.weights[3].back() == machine.host_part());
}

TEST_CASE("a machine without room for the model has no split that fits") {
  Machine machine = machine_of({gpu(1e12, 410)});
  machine.host->memory.value = Bytes(2056 * kMiB);
  const Setup setup = setup_of(small_moe());
  CHECK_FALSE(best_split(setup, machine, {Tokens(4096), 1}).fits);
}

TEST_CASE("the flags of a split are written for the server that runs it") {
  Split split;
  split.gpu_layers = 49;
  split.cpu_moe = 12;
  split.cache_on_host = true;
  split.shares = {20, 29};
  const EngineOptions options = test::engine_options("llama.cpp");
  const auto settings = with_split(options, split, 2).settings;
  CHECK(settings == std::map<std::string, std::string>{{"n_cpu_moe", "12"},
                                                       {"n_gpu_layers", "49"},
                                                       {"no_kv_offload", "true"},
                                                       {"tensor_split", "20,29"}});
}

TEST_CASE("parts add up to their lines, and leave what is left") {
  const Machine machine = machine_of({gpu(1e12, 440)});
  const SplitAnswer answer =
      split_answer(setup_of(small_moe()), machine, {Tokens(256), 1}, Tokens(100000));
  REQUIRE(answer.parts.size() == 2);
  std::vector<Bytes> sums(2);
  for (const MachineLine& line : answer.lines) sums[line.line.part] += line.line.bytes.value;
  for (std::size_t p = 0; p < 2; ++p) {
    CHECK(sums[p] == answer.parts[p].used);
    CHECK(*answer.parts[p].left == *answer.parts[p].memory - answer.parts[p].used);
    CHECK(answer.parts[p].left->n >= 0);
  }
  CHECK(answer.parts[0].layers + answer.parts[1].layers == answer.countable);
  REQUIRE(answer.max_context);
  CHECK(*answer.max_context >= Tokens(256));
}

TEST_CASE("levers are the same question with one thing changed, and only those that gain") {
  const Machine machine = machine_of({gpu(1e12, 430)});
  const Load load{Tokens(1024), 1};
  const Setup setup = setup_of(small_moe());
  const SplitOutcome now = split_outcome(setup, machine, load);
  const auto levers = split_levers(setup, machine, load);
  REQUIRE_FALSE(levers.empty());
  for (const SplitLever& lever : levers) {
    CHECK(std::max(lever.decode_gain, lever.prefill_gain) >= 1.1);
    CHECK(*lever.outcome.decode == doctest::Approx(*now.decode * lever.decode_gain));
    CHECK(*lever.outcome.prefill == doctest::Approx(*now.prefill * lever.prefill_gain));
  }
}

TEST_CASE("smaller weight formats never leave fewer experts on the GPU") {
  const Machine machine = machine_of({gpu(1e12, 415)});
  constexpr std::string_view kRecipes[] = {"fp16", "q8_0", "q4_0"};
  const auto rungs = split_ladder(setup_of(small_moe()), machine, {Tokens(256), 1}, kRecipes);
  REQUIRE(rungs.size() == 3);
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    CHECK(rungs[i].weights < rungs[i - 1].weights);
    CHECK(rungs[i].outcome.cpu_moe <= rungs[i - 1].outcome.cpu_moe);
    CHECK(*rungs[i].outcome.decode >= *rungs[i - 1].outcome.decode);
  }
}
