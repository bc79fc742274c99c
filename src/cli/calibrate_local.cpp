// SPDX-License-Identifier: Apache-2.0
// kv-plan calibrate on this machine: measure, fit, prove the fit on whole steps.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "calibrate/local.h"
#include "calibrate/outcome.h"
#include "calibrate/remarks.h"
#include "cli/calibrate.h"
#include "cli/calibrate_rows.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "report/device.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/profile.h"

namespace kvplan {
namespace {

constexpr double kSampling = 0.65, kFitting = 0.7;  // where progress stands after each part
constexpr double kMeasuring = 0.93;  // of the budget: a last sample may take the rest
constexpr int kInterrupted = 128 + SIGINT;

Seconds steady_now() {
  return Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

SessionOptions options_of(const Request& request, const Backend& backend) {
  if (request.quick && request.full)
    throw Error("said together").of("--quick and --full").advise("Leave one of them out.");
  SessionOptions options;
  options.rules.seed = static_cast<std::uint64_t>(request.seed.value_or(1));
  if (request.quick) options.effort = Effort::quick;
  if (request.full) options.effort = Effort::full;
  const double usual = backend.name() == "cuda" ? 30 : 60;
  options.budget = Seconds(request.quick ? 10 : request.full ? 480 : usual);
  return options;
}

std::string lead_of(const Session& session) {
  if (session.read.samples.times.empty())
    return fmt::format("{}: interrupted before anything was measured.", session.device.title);
  return fmt::format("{}{} ({} threads, {}): reads {}; {} shapes measured.",
                     session.partial ? "Partial, since interrupted: " : "", session.device.title,
                     session.device.processors.value_or(1), session.device.architecture,
                     shown(session.stream_rate().v, Show::rate_bytes), session.shapes.size());
}

std::string percent_or(const std::optional<double>& share, const char* otherwise) {
  return share ? shown(*share, Show::percent) : otherwise;
}

std::string verdict_of(const Proof& proof, const SamplingRules& rules) {
  if (!proof.median_error) return "No whole step was timed.";
  const std::vector<StepProof> judged = proof.judged(rules);
  const std::string all = fmt::format(
      "{} whole steps of a small model that the fit never saw: median error {}, {} inside the "
      "interval.",
      proof.steps.size(), shown(*proof.median_error, Show::percent),
      std::count_if(proof.steps.begin(), proof.steps.end(),
                    [](const StepProof& p) { return p.inside(); }));
  if (proof.too_noisy(rules))
    return all + fmt::format(
                     " Too noisy to judge: reading memory stayed within {} in the rounds of {} of "
                     "them, and {} are needed (over all, it varied by {}).",
                     shown(rules.noise, Show::percent), judged.size(), kLeastJudged,
                     percent_or(proof.stream_noise, "an unknown share"));
  return all + fmt::format(
                   " Judged by the {} in whose rounds reading memory stayed within {}: {}; in "
                   "units of that stream {}.",
                   judged.size(), shown(rules.noise, Show::percent),
                   shown(*median_error(judged), Show::percent),
                   percent_or(median_error_of_stream(judged), "unknown"));
}

Object session_object(const Session& s) {
  return {{"backend", value(s.backend)},       {"partial", value(s.partial)},
          {"seed", value(s.rules.seed)},       {"buffers_bytes", value(s.buffers)},
          {"other_load", value(s.other_load)}, {"discarded", value(s.discarded)},
          {"disturbed", value(s.disturbed)},   {"disturbed_but_kept", value(s.admitted)},
          {"absent", value(s.absent)},         {"peaks", value(peak_rows(s))},
          {"rates", value(rate_rows(s))},      {"shapes", value(shape_rows(s))}};
}

Object proof_object(const Proof& proof, const SamplingRules& rules) {
  const std::vector<StepProof> judged = proof.judged(rules);
  return {{"median_ape", value(proof.median_error)},
          {"stream_noise", value(proof.stream_noise)},
          {"judged", value(judged.size())},
          {"judged_median_ape", value(median_error(judged))},
          {"judged_median_ape_of_stream", value(median_error_of_stream(judged))},
          {"too_noisy", value(proof.too_noisy(rules))},
          {"rows", value(proof_rows(proof, rules))}};
}

struct Outcome {
  Session session;
  Profile profile;
  Proof proof;
};

Outcome measure(Backend& backend, const SessionOptions& options) {
  Interrupt interrupt;
  Progress bar;
  const Seconds start = steady_now();
  double from = 0, to = kSampling;
  const Attendance attendance{
      [&](double done, std::string_view what) { bar.update(from + done * (to - from), what); },
      [&] { return interrupt.asked(); }, steady_now};
  Outcome outcome;
  outcome.session = run_session(backend, options, attendance);
  bar.update(kSampling, "fit");
  outcome.profile = profile_of(outcome.session, options.rules.seed);
  from = kFitting, to = 1;
  outcome.proof =
      prove(backend, outcome.profile, options, attendance, start + options.budget * kMeasuring);
  outcome.session.partial = outcome.session.partial || interrupt.asked();
  return outcome;
}

Document document_of(const Outcome& o, const SessionOptions& options) {
  Document document;
  document.command = "calibrate";
  document.title = "Calibration of " + o.session.device.title;
  document.body.emplace_back("device", value(o.session.device));
  document.body.emplace_back("calibration", value(session_object(o.session)));
  document.body.emplace_back("fit", value(o.profile.fits));
  document.body.emplace_back("whole_step", value(proof_object(o.proof, options.rules)));
  Table rates = table<RateRow>("calibration.rates", "Measured");
  rates.notes = {
      "Medians of the larger half of the shapes, with cold caches. Of stream: beside the "
      "fastest plain read of the same round. Noise: 10th to 90th percentile. q: queries."};
  if (!o.session.peaks.empty() && !o.session.shapes.empty())
    rates.notes.push_back("Of peak: beside what the cores multiply and add in registers alone (" +
                          peaks_of(o.session) + "). Binds: the nearer of the two limits.");
  Table fits = table<Fit>("fit", "Fit");
  fits.notes = {"Errors are those of axis values (rows, heads, contexts) left out in turn."};
  Table proof = table<ProofRow>("whole_step.rows", "Whole steps, predicted and measured");
  proof.notes = {verdict_of(o.proof, options.rules)};
  document.tables = {std::move(rates), std::move(fits), std::move(proof)};
  document.lead = {lead_of(o.session)};
  return document;
}

}  // namespace

Answer answer_calibrate_local(const Request& request) {
  LocalBackend local =
      local_backend(request.backend.value_or("auto"), request.run_device.value_or(""));
  const SessionOptions options = options_of(request, *local.backend);
  const auto place = place_to_save(request);
  Outcome outcome = measure(*local.backend, options);
  stamp(outcome.profile);
  std::vector<Warning> warnings = remarks_on(outcome.session);
  Document document = document_of(outcome, options);
  for (const std::string& reason : local.passed_over)
    document.closing.push_back("Not measured: " + reason + ".");
  if (outcome.session.partial) outcome.profile.origin += ", interrupted";
  // Half a calibration does not replace a whole one, unless a place for it is named.
  const auto usual_place =
      outcome.session.partial ? std::nullopt : std::optional(users_profile_path(outcome.profile));
  if (outcome.profile.fits.empty())
    document.closing.push_back(
        "No profile was written: too little was measured for a fit. Calibrate when the machine is "
        "idle, or give it more time with --full.");
  else if (const auto path = save_profile(request, outcome.profile, usual_place, place.get()))
    document.closing.push_back("The profile is in " + *path + ".");
  document.body.emplace_back("warnings", value(warnings));
  return {std::move(document), outcome.session.partial ? kInterrupted : 0, std::move(warnings)};
}

}  // namespace kvplan
