// SPDX-License-Identifier: Apache-2.0
#include "calibrate/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "calibrate/fake_backend.h"
#include "calibrate/outcome.h"
#include "calibrate/remarks.h"
#include "calibrate/whole_step.h"

using namespace kvplan;

namespace {

constexpr double kRead = 20e9, kFlops = 1e12, kStart = 5e-6;

// A machine without noise: 5 us, then 20 GB/s or 1 TFLOP/s (or so), whichever takes longer.
Seconds time_on_ideal_machine(const Work& work, double flops) {
  return Seconds(kStart) +
         std::max(work.moved / BytesPerSecond(kRead), work.flops / FlopsPerSecond(flops));
}

FakeBackend ideal_machine(double flops = kFlops) {
  FakeBackend backend;
  backend.spec.name = "ideal";
  backend.make = [flops](const Problem& problem) {
    const Work work = work_of(problem);
    return std::make_unique<FakeRun>("kernel", work.moved,
                                     std::vector{time_on_ideal_machine(work, flops).v});
  };
  backend.make_step = [flops](const std::vector<Problem>& problems) {
    double time = 0;
    for (const Problem& problem : problems)
      time += time_on_ideal_machine(work_of(problem), flops).v;
    return std::make_unique<FakeRun>("step", Bytes(1), std::vector{time});
  };
  return backend;
}

// A clock that moves a little whenever it is looked at.
struct Witness {
  double clock = 0;
  std::vector<std::string> seen;
  std::size_t stop_after = SIZE_MAX, asked = 0;

  Attendance attendance() {
    return {[this](double, std::string_view what) { seen.emplace_back(what); },
            [this] { return ++asked > stop_after; }, [this] { return Seconds(clock += 1e-5); }};
  }
};

const SessionOptions kQuick{Effort::quick, Seconds(10), {}};

}  // namespace

TEST_CASE("a session measures streams and every series, with shapes enough for a fit") {
  FakeBackend backend = ideal_machine();
  Witness witness;
  const Session session = run_session(backend, kQuick, witness.attendance());
  CHECK(session.stream_rate().v == doctest::Approx(kRead).epsilon(0.01));
  CHECK(!session.partial);
  std::set<std::string> measured;
  for (const SampledShape& shape : session.shapes) measured.insert(shape.series);
  for (const Series& series : all_series(Effort::quick)) {
    CHECK(measured.count(series.what) == 1);
    CHECK(series.problems.size() >= 8);
  }
  CHECK(!witness.seen.empty());
}

TEST_CASE("a kernel that disagrees with the reference is never timed") {
  FakeBackend backend = ideal_machine();
  std::vector<std::string> log;
  backend.make = [&](const Problem& problem) {
    auto run = std::make_unique<FakeRun>("kernel", work_of(problem).moved, std::vector{1e-3}, &log);
    run->wrong = std::holds_alternative<GemmShape>(problem) ? 1.5 : 0;
    if (std::holds_alternative<GemmShape>(problem)) run->name = "wrong";
    return run;
  };
  Witness witness;
  CHECK_THROWS_WITH_AS(run_session(backend, kQuick, witness.attendance()),
                       doctest::Contains("wrong results"), Error);
  // Only the first look at the pace may have run it.
  CHECK(std::count(log.begin(), log.end(), "wrong") <= 2);
}

TEST_CASE("an interrupted session keeps what it has, and says that it is partial") {
  FakeBackend backend = ideal_machine();
  Witness witness;
  witness.stop_after = 500;
  const Session session = run_session(backend, kQuick, witness.attendance());
  CHECK(session.partial);
  CHECK(!session.shapes.empty());
  CHECK(session.shapes.size() < 60);
  for (const SampledShape& shape : session.shapes) CHECK(shape.samples.times.size() >= 3);
  CHECK(remarks_on(session).front().code == "partial");
}

TEST_CASE("a series that no kernel runs is named as absent") {
  FakeBackend backend = ideal_machine();
  const auto make = backend.make;
  backend.make = [make](const Problem& problem) {
    return std::holds_alternative<PrefillAttentionShape>(problem) ? nullptr : make(problem);
  };
  Witness witness;
  const Session session = run_session(backend, kQuick, witness.attendance());
  CHECK(session.absent == std::vector<std::string>{"prefill attention bf16"});
}

TEST_CASE("thinning leaves out the longest shapes first, and what does not fit") {
  Series series{"weights bf16", {}};
  for (std::int64_t n = 1; n <= 20; ++n)
    series.problems.push_back(GemmShape{1, 1000 * n, 1024, &format_named("bf16")});
  // 2 MB per 1000 rows at 1 GB/s: 2.05 ms times n. Ten fit into 10 x 55 x 2.05 ms.
  const Pace pace{BytesPerSecond(1e9), FlopsPerSecond(1e15), Bytes(kGiB)};
  const Series ten = thinned(series, pace, 10, Seconds(1.15));
  REQUIRE(ten.problems.size() == 10);
  CHECK(std::get<GemmShape>(ten.problems.back()).n == 10000);
  CHECK(thinned(series, pace, 10, Seconds(0)).problems.size() == 8);
  CHECK(thinned(series, {pace.read, pace.arithmetic, Bytes(5000000)}, 1, Seconds(9))
            .problems.size() == 2);
}

TEST_CASE("remarks say what disturbed a session and what to do") {
  FakeBackend backend = ideal_machine();
  backend.load = 0.4;
  backend.clocks = {3e9, 3e9, 3e9, 1e9};
  backend.size = Bytes(64 * kMiB);
  backend.spec.last_level_cache = Fact<Bytes>{Bytes(32 * kMiB), "test"};
  Witness witness;
  std::set<std::string> codes;
  for (const Warning& w : remarks_on(run_session(backend, kQuick, witness.attendance())))
    codes.insert(w.code);
  CHECK(codes == std::set<std::string>{"other-load", "throttled", "short-of-memory"});
}

TEST_CASE("a session counts the samples that others disturbed, and says so") {
  FakeBackend backend = ideal_machine();
  backend.losses = {0, 0, 0, 0, 1e-3};
  Witness witness;
  const Session session = run_session(backend, kQuick, witness.attendance());
  CHECK(session.disturbed > 0);
  CHECK(session.admitted == 0);
  const auto remarks = remarks_on(session);
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0].code == "disturbed");
}

TEST_CASE("a step is judged by the stream of its own rounds") {
  const SamplingRules rules;
  StepProof step;
  step.expected.value = Seconds(1);
  step.expected_of_stream = 0.8;
  for (int i = 0; i < 7; ++i) {
    step.samples.times.emplace_back(1.25);  // a quarter slower, as the stream is
    step.samples.of_stream.push_back(0.8);
    step.samples.stream.emplace_back(0.1);
  }
  CHECK(step.judged(rules));
  CHECK(step.error() == doctest::Approx(-0.2));
  CHECK(*step.error_of_stream() == doctest::Approx(0));

  StepProof wild = step;
  wild.samples.stream[0] = wild.samples.stream[1] = Seconds(0.15);
  CHECK(!wild.judged(rules));
  StepProof few = step;
  few.samples.stream.pop_back();
  CHECK(!few.judged(rules));
  StepProof disturbed = step;
  disturbed.samples.admitted = 1;
  CHECK(!disturbed.judged(rules));

  Proof proof;
  proof.steps = {step, step, step, step, step, wild};
  CHECK(proof.too_noisy(rules));
  proof.steps.push_back(step);
  CHECK(!proof.too_noisy(rules));
  CHECK(proof.judged(rules).size() == 6);
}

TEST_CASE(
    "a machine that is slower when it is proved than when it was fitted shows by its stream") {
  FakeBackend backend = ideal_machine();
  Witness witness;
  const Profile profile = profile_of(run_session(backend, kQuick, witness.attendance()), 1);
  const auto slower = [](std::unique_ptr<Run> run) {
    static_cast<FakeRun&>(*run).script[0] *= 1.5;
    return run;
  };
  backend.make = [slower, make = backend.make](const Problem& p) { return slower(make(p)); };
  backend.make_step = [slower, make = backend.make_step](const std::vector<Problem>& problems) {
    return slower(make(problems));
  };
  const Proof proof = prove(backend, profile, kQuick, witness.attendance(), Seconds(1e9));
  CHECK(*proof.median_error > 0.25);
  CHECK(*median_error_of_stream(proof.steps) < 0.1);
}

TEST_CASE("the profile of a machine that obeys the laws predicts whole steps that it never saw") {
  FakeBackend backend = ideal_machine();
  Witness witness;
  const Session session = run_session(backend, kQuick, witness.attendance());
  const Profile profile = profile_of(session, 1);
  CHECK(profile.device == "ideal");
  CHECK(profile.measured.size() == session.shapes.size());
  const Proof proof = prove(backend, profile, kQuick, witness.attendance(), Seconds(1e9));
  CHECK(proof.steps.size() >= 6);
  REQUIRE(proof.median_error);
  CHECK(*proof.median_error < 0.1);
  CHECK(!proof.too_noisy({}));
}

// int4 at 20 GB/s is 40 weights a nanosecond: from 2 rows on, 0.15 TFLOP/s bind. Six rows run as 8.
TEST_CASE("steps whose few rows bind arithmetic are predicted too, as on a CPU") {
  FakeBackend backend = ideal_machine(1.5e11);
  const auto padded = [](Problem problem) {
    if (auto* product = std::get_if<GemmShape>(&problem))
      product->m = product->m > 4 ? round_up(product->m, 8) : product->m > 2 ? 4 : product->m;
    return time_on_ideal_machine(work_of(problem), 1.5e11);
  };
  backend.make = [padded](const Problem& problem) {
    return std::make_unique<FakeRun>("kernel", work_of(problem).moved,
                                     std::vector{padded(problem).v});
  };
  backend.make_step = [padded](const std::vector<Problem>& problems) {
    double time = 0;
    for (const Problem& problem : problems) time += padded(problem).v;
    return std::make_unique<FakeRun>("step", Bytes(1), std::vector{time});
  };
  Witness witness;
  const SessionOptions usual{Effort::usual, Seconds(60), {}};
  const Profile profile = profile_of(run_session(backend, usual, witness.attendance()), 1);
  const Proof proof = prove(backend, profile, usual, witness.attendance(), Seconds(1e9));
  CHECK(proof.steps.size() >= 12);
  for (const StepProof& step : proof.steps) CHECK(std::abs(step.error()) < 0.1);
}

TEST_CASE("a step has each product of each layer once, and the head") {
  const Format& bf16 = format_named("bf16");
  const SyntheticModel model;
  const auto decode = problems_of(model, {&bf16, &bf16, 3, 500});
  CHECK(decode.size() == static_cast<std::size_t>(5 * model.layers + 1));
  std::int64_t weights = 0;
  for (const Problem& p : decode)
    if (const auto* product = std::get_if<GemmShape>(&p)) weights += product->n * product->k;
  // Per layer: (14 + 2·2)·128·1792 + 1792·1792 + 3·4864·1792; head 24576·1792.
  CHECK(weights == 4 * (4128768 + 3211264 + 26148864) + 44040192);
  CHECK(std::get<GemmShape>(decode.back()).m == 3);
  CHECK(std::get<GemmShape>(problems_of(model, {&bf16, &bf16, 1, 0, 96}).back()).m == 1);
}

TEST_CASE("no shape of a step is one that was fitted") {
  for (const Effort effort : {Effort::quick, Effort::usual})
    for (const StepCase& step : step_cases(effort))
      for (const Problem& problem : problems_of({}, step))
        for (const Series& series : all_series(effort))
          for (const Problem& fitted : series.problems)
            CHECK(shape_of(problem) != shape_of(fitted));
}
