// SPDX-License-Identifier: Apache-2.0
#include "calibrate/sampling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "calibrate/fake_backend.h"

using namespace kvplan;

namespace {

bool never() { return false; }

}  // namespace

TEST_CASE("a quiet run is sampled as often as the rules ask, and no more") {
  FakeBackend backend;
  FakeRun run("a", Bytes(100), {1.0, 1.01, 0.99});
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  CHECK(sampler.rounds(nullptr, {&run})[0].times.size() == 7);
}

TEST_CASE("a noisy run is repeated up to the most, and stays noisy") {
  FakeBackend backend;
  const SamplingRules rules{.least = 7, .most = 21};
  FakeRun wild("wild", Bytes(100), {1.0, 2.0}), calm("calm", Bytes(100), {1.0});
  Sampler sampler(backend, rules, never);
  const auto all = sampler.rounds(nullptr, {&wild, &calm});
  CHECK(all[0].times.size() == 21);
  CHECK(all[0].noisy(rules));
  CHECK(all[1].times.size() == 7);  // it does not wait for the other
  CHECK(!all[1].noisy(rules));
}

TEST_CASE("a run that becomes quiet stops early") {
  FakeBackend backend;
  // Two slow samples of nine: the 90th percentile is slow at 8 and 9 samples, not at 20.
  std::vector<double> script(40, 1.0);
  script[0] = script[1] = 2.0;
  FakeRun run("a", Bytes(100), script);
  Sampler sampler(backend, {.least = 7, .most = 40}, never);
  const std::size_t taken = sampler.rounds(nullptr, {&run})[0].times.size();
  CHECK(taken > 7);
  CHECK(taken < 40);
}

TEST_CASE("rounds interleave: the stream first, then every run once in changing order") {
  FakeBackend backend;
  std::vector<std::string> log;
  FakeRun stream("s", Bytes(100), {1.0}, &log);
  FakeRun a("a", Bytes(100), {1.0}, &log), b("b", Bytes(100), {1.0}, &log),
      c("c", Bytes(100), {1.0}, &log);
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  sampler.rounds(&stream, {&a, &b, &c});
  REQUIRE(log.size() == 28);
  std::set<std::string> orders;
  for (std::size_t round = 0; round < 7; ++round) {
    CHECK(log[4 * round] == "s");
    std::string order = log[4 * round + 1] + log[4 * round + 2] + log[4 * round + 3];
    orders.insert(order);
    std::sort(order.begin(), order.end());
    CHECK(order == "abc");
  }
  CHECK(orders.size() > 1);
}

TEST_CASE("a ratio to the stream is of the same round, so a slow round cancels out") {
  FakeBackend backend;
  // The whole machine is three times slower in every second round.
  FakeRun stream("s", Bytes(1000), {1.0, 3.0}), half("h", Bytes(500), {1.0, 3.0});
  Sampler sampler(backend, {.least = 7, .most = 8}, never);
  const Samples samples = sampler.rounds(&stream, {&half})[0];
  CHECK(samples.noisy({}));
  REQUIRE(samples.of_stream.size() == samples.times.size());
  for (const double ratio : samples.of_stream) CHECK(ratio == doctest::Approx(0.5));
}

TEST_CASE("samples at a low clock are thrown away and counted") {
  FakeBackend backend;
  backend.clocks = {3e9, 2e9};  // every second sample at two thirds of the highest
  FakeRun run("a", Bytes(100), {1.0, 1.5});
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  const Samples samples = sampler.rounds(nullptr, {&run})[0];
  CHECK(samples.times.size() == 7);
  CHECK(samples.discarded == 6);
  CHECK(std::all_of(samples.times.begin(), samples.times.end(),
                    [](Seconds t) { return t == Seconds(1.0); }));
}

TEST_CASE("a machine that is throttled all the time comes to an end") {
  FakeBackend backend;
  backend.clocks = {3e9};
  FakeRun run("a", Bytes(100), {1.0});
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  sampler.rounds(nullptr, {&run});
  backend.clocks = {1e9};
  const Samples samples = sampler.rounds(nullptr, {&run})[0];
  CHECK(samples.times.empty());
  CHECK(samples.discarded == 21);
}

TEST_CASE("samples during which others had the processor are thrown away and counted") {
  FakeBackend backend;
  backend.losses = {0, 0.3};  // every second sample waits for most of what it takes longer
  FakeRun run("a", Bytes(100), {1.0, 1.4});
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  const Samples samples = sampler.rounds(nullptr, {&run})[0];
  CHECK(samples.times == std::vector<Seconds>(7, Seconds(1.0)));
  CHECK(samples.disturbed == 6);
  CHECK(samples.discarded == 0);
  CHECK(samples.admitted == 0);
}

TEST_CASE("a machine that is busy all the time comes to an end, with its quietest samples") {
  FakeBackend backend;
  backend.losses = {0.5, 0.4, 0.3};
  FakeRun run("a", Bytes(100), {1.5, 1.4, 1.3});
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  const Samples samples = sampler.rounds(nullptr, {&run})[0];
  CHECK(samples.times == std::vector<Seconds>(3, Seconds(1.3)));
  CHECK(samples.admitted == 3);
  CHECK(samples.disturbed == 18);
}

TEST_CASE("a disturbed stream is read again in its round, and never compared with") {
  FakeBackend backend;
  backend.losses = {2, 0, 0};  // stream, stream again, shape
  FakeRun stream("s", Bytes(1000), {3.0, 1.0}), half("h", Bytes(500), {1.0});
  Sampler sampler(backend, {.least = 7, .most = 21}, never);
  const Samples samples = sampler.rounds(&stream, {&half})[0];
  CHECK(samples.stream == std::vector<Seconds>(7, Seconds(1.0)));
  for (const double ratio : samples.of_stream) CHECK(ratio == doctest::Approx(0.5));
  CHECK(sampler.stream().disturbed == 7);

  backend.losses = {2, 2, 2, 2, 0};  // it gives up, and the shape is sampled all the same
  backend.sampled = 0;
  const Samples alone = sampler.rounds(&stream, {&half})[0];
  CHECK(alone.times.size() == 7);
  CHECK(alone.of_stream.empty());
  CHECK(alone.stream.empty());
}

TEST_CASE("undisturbed trials are kept, else those that lost the smallest share") {
  const SamplingRules rules{.lost_share = 0.1, .lost_least = Seconds(0.5)};
  const auto trial = [](double time, double lost) {
    return Trial{Seconds(time), Seconds(lost), {}, {}};
  };
  using Kept = std::vector<std::size_t>;
  CHECK(trials_to_keep({}, rules, 3) == Kept{});
  const std::vector<Trial> trials{trial(10, 4), trial(10, 1), trial(1, 0.5), trial(20, 4)};
  CHECK(trials_to_keep(trials, rules, 0) == Kept{1, 2});  // 10 %, and no more than the least
  CHECK(trials_to_keep(trials, rules, 3) == Kept{1, 2, 3});
  CHECK(trials_to_keep(trials, rules, 9) == Kept{0, 1, 2, 3});
}

TEST_CASE("an interruption keeps what was taken, and later rounds take nothing") {
  FakeBackend backend;
  int asked = 0;
  FakeRun a("a", Bytes(100), {1.0}), b("b", Bytes(100), {1.0});
  Sampler sampler(backend, {.least = 7, .most = 21}, [&] { return ++asked > 5; });
  const auto all = sampler.rounds(nullptr, {&a, &b});
  CHECK(all[0].times.size() + all[1].times.size() == 5);
  CHECK(sampler.stopped());
  CHECK(sampler.rounds(nullptr, {&a})[0].times.empty());
}

TEST_CASE("the same seed gives the same order") {
  for (const std::uint64_t seed : {1, 2}) {
    std::vector<std::string> logs[2];
    for (auto& log : logs) {
      FakeBackend backend;
      FakeRun a("a", Bytes(1), {1.0}, &log), b("b", Bytes(1), {1.0}, &log);
      Sampler sampler(backend, {.least = 20, .most = 20, .seed = seed}, never);
      sampler.rounds(nullptr, {&a, &b});
    }
    CHECK(logs[0] == logs[1]);
  }
}
