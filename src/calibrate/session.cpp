// SPDX-License-Identifier: Apache-2.0
#include "calibrate/session.h"

#include <algorithm>
#include <random>

namespace kvplan {
namespace {

constexpr std::size_t kGroup = 8;      // shapes that share rounds
constexpr double kSpareSamples = 1.5;  // over the least: noise, and pace that was guessed

std::int64_t buffers_of(Backend& backend) { return backend.buffers().value_or(Bytes(kGiB)).n; }

std::unique_ptr<Run> checked(Backend& backend, const Problem& problem, const std::string& what) {
  std::unique_ptr<Run> run = backend.prepare(problem);
  if (run && !(run->error() <= 1))
    throw Error("the kernel gives wrong results on this machine")
        .of(what)
        .advise("No time of it would mean anything; please report the CPU or GPU.");
  return run;
}

// Should time run out, what was measured is spread over all axes.
Series shuffled(Series series, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  for (std::size_t i = series.problems.size(); i > 1; --i)
    std::swap(series.problems[i - 1], series.problems[generator() % i]);
  return series;
}

class Conductor {
 public:
  Conductor(Backend& backend, const SessionOptions& options, const Attendance& attendance)
      : backend_(backend),
        options_(options),
        attendance_(attendance),
        start_(attendance.now()),
        sampler_(backend, options.rules, [this] { return over(); }) {}

  Session conduct() {
    session_.device = backend_.device();
    session_.backend = backend_.name();
    session_.rules = options_.rules;
    backend_.other_load();  // from here on
    take_streams();
    const Pace pace = look();
    const std::vector<Series> all = all_series(options_.effort);
    for (std::size_t i = 0; i < all.size() && !attendance_.interrupted(); ++i) {
      const double left = static_cast<double>(all.size() - i);
      // What earlier series did not use is for the later ones.
      const Seconds share = std::max(options_.for_sampling() - elapsed(), Seconds(0)) / left;
      deadline_ = elapsed() + share * 1.5;
      take(shuffled(thinned(all[i], pace, samples_planned(), share), options_.rules.seed));
    }
    const Samples& meanwhile = sampler_.stream();
    Samples& read = session_.read.samples;
    read.times.insert(read.times.end(), meanwhile.times.begin(), meanwhile.times.end());
    session_.count(meanwhile);
    for (const SampledShape* one : {&session_.read, &session_.copy}) session_.count(one->samples);
    session_.partial = attendance_.interrupted();
    session_.other_load = backend_.other_load();
    session_.buffers = backend_.buffers();
    session_.missing = backend_.missing();
    return std::move(session_);
  }

 private:
  Seconds elapsed() const { return attendance_.now() - start_; }
  bool over() const { return attendance_.interrupted() || (deadline_ && elapsed() > *deadline_); }
  std::size_t samples_planned() const {
    return static_cast<std::size_t>(kSpareSamples * static_cast<double>(options_.rules.least));
  }
  void show(std::string_view what) const {
    attendance_.progress(std::min(elapsed() / options_.for_sampling(), 1.0), what);
  }

  SampledShape single(const char* what, const Problem& problem) {
    SampledShape taken{what, problem, {}, {}, {}};
    const auto run = checked(backend_, problem, what);
    if (!run) return taken;
    taken.samples = sampler_.rounds(nullptr, {run.get()}).front();
    taken.how = run->description();
    return taken;
  }

  void take_streams() {
    show("memory streams");
    stream_ = checked(backend_, StreamShape{stream_bytes(backend_)}, "stream read");
    if (!stream_) throw Error("the " + backend_.name() + " backend cannot read memory");
    session_.copy = single("stream copy", StreamShape{stream_bytes(backend_), true});
    session_.launch = single("launch", LaunchShape{});
    session_.read = single("stream read", StreamShape{stream_bytes(backend_)});
    session_.read.how = stream_->description();
    for (const Arithmetic arithmetic :
         {Arithmetic::floats, Arithmetic::bf16_pairs, Arithmetic::word_pairs,
          Arithmetic::byte_quads, Arithmetic::bf16_tiles, Arithmetic::word_tiles})
      if (const auto rate = backend_.peak(arithmetic))
        session_.peaks.push_back({arithmetic, *rate});
  }

  // A small product and a small attention: the slower arithmetic is the pace.
  Pace look() {
    Pace pace;
    const Samples& read = session_.read.samples;
    pace.read = read.times.empty() ? BytesPerSecond(1e9) : session_.stream_rate();
    pace.largest = Bytes(buffers_of(backend_) / 2);
    const Format& bf16 = format_named("bf16");
    pace.arithmetic = FlopsPerSecond(1e15);
    for (const Problem& problem : {Problem(GemmShape{32, 1024, 1024, &bf16}),
                                   Problem(PrefillAttentionShape{1, 8, 2, 128, 128, 64, 0, &bf16})})
      if (const auto run = backend_.prepare(problem)) {
        const Seconds time = std::min(run->sample(), run->sample());
        pace.arithmetic = std::min(pace.arithmetic, run->work().flops / time);
      }
    return pace;
  }

  void take(const Series& series) {
    std::size_t prepared = 0;
    for (std::size_t first = 0; first < series.problems.size() && !over(); first += kGroup) {
      show(series.what);
      const std::size_t last = std::min(first + kGroup, series.problems.size());
      std::vector<std::unique_ptr<Run>> runs;
      std::vector<const Problem*> problems;
      for (std::size_t i = first; i < last && !over(); ++i)
        if (auto run = checked(backend_, series.problems[i], series.what)) {
          runs.push_back(std::move(run));
          problems.push_back(&series.problems[i]);
        }
      prepared += runs.size();
      keep(series.what, problems, runs);
    }
    if (prepared == 0 && !over()) session_.absent.push_back(series.what);
  }

  void keep(const std::string& what, const std::vector<const Problem*>& problems,
            const std::vector<std::unique_ptr<Run>>& runs) {
    std::vector<Run*> turn;
    for (const auto& run : runs) turn.push_back(run.get());
    std::vector<Samples> samples = sampler_.rounds(stream_.get(), turn);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      session_.count(samples[i]);
      if (samples[i].times.size() >= 3)  // fewer have no median worth the name
        session_.shapes.push_back({what, *problems[i], runs[i]->description(),
                                   std::move(samples[i]), runs[i]->arithmetic()});
    }
  }

  Backend& backend_;
  const SessionOptions& options_;
  const Attendance& attendance_;
  Seconds start_;
  std::optional<Seconds> deadline_;  // of the series
  Sampler sampler_;
  std::unique_ptr<Run> stream_;
  Session session_;
};

}  // namespace

Bytes stream_bytes(Backend& backend) { return Bytes(std::min(64 * kMiB, buffers_of(backend) / 8)); }

void Session::count(const Samples& samples) {
  discarded += samples.discarded;
  disturbed += samples.disturbed;
  admitted += samples.admitted;
}

std::optional<double> Session::of_peak(const SampledShape& shape) const {
  const auto peak = std::find_if(peaks.begin(), peaks.end(), [&](const ArithmeticPeak& p) {
    return p.arithmetic == shape.arithmetic;
  });
  const Flops flops = work_of(shape.problem).flops;
  if (peak == peaks.end() || flops == Flops(0)) return std::nullopt;
  return flops / Seconds(shape.samples.spread().median) / peak->rate;
}

BytesPerSecond Session::stream_rate() const {
  return work_of(read.problem).moved / Seconds(read.samples.spread().median);
}

Session run_session(Backend& backend, const SessionOptions& options, const Attendance& attendance) {
  return Conductor(backend, options, attendance).conduct();
}

}  // namespace kvplan
