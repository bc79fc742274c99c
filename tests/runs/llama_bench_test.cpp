// SPDX-License-Identifier: Apache-2.0
// Published llama-bench runs: what ships of them, and how well it foretells runs left out. Writes
// configs/runs/llama.cpp.yaml and reports/llama-bench.md.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "calibrate/statistics.h"
#include "catalog/runs_file.h"
#include "golden.h"
#include "model/recipe.h"
#include "plan/expectation.h"
#include "report/numbers.h"
#include "runs/run_fit.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

const std::vector<PublishedRun>& runs() {
  static const Catalog catalog("");
  static const std::vector<PublishedRun> all = published_runs(catalog);
  return all;
}

const RunFit& fit() {
  static const RunFit found = fitted(runs());
  return found;
}

const PublishedRuns::Width& width_of(const LeftOut& e) {
  const auto* width =
      fit().runs.width(e.run->phase, e.run->device.vendor, e.own, has_experts(e.run->launches));
  static const PublishedRuns::Width kNone;
  return width ? *width : kNone;
}

double ratio(const LeftOut& e) { return e.run->measured / e.predicted; }

struct Errors {
  std::vector<double> apes;
  std::int64_t inside = 0;

  void add(const LeftOut& e) {
    apes.push_back(std::abs(1 / ratio(e) - 1));
    inside += ratio(e) >= width_of(e).low && ratio(e) <= width_of(e).high;
  }
  std::string cells() const {
    if (apes.empty()) return "– | – | – |";
    const auto n = static_cast<double>(apes.size());
    return fmt::format("{} | {:.0f} / {:.0f} % | {:.0f} % |", apes.size(),
                       100 * quantile(apes, 0.5), 100 * quantile(apes, 0.9),
                       100 * static_cast<double>(inside) / n);
  }
};

// Of runs left out, each against an interval to which its own device adds nothing.
double coverage_of_others(Phase phase, bool own) {
  double inside = 0, all = 0;
  for (const LeftOut& e : fit().left_out) {
    if (e.run->phase != phase || e.own != own) continue;
    std::vector<double> logs;
    const std::string& vendor = width_of(e).vendor;
    for (const LeftOut& other : fit().left_out)
      if (other.run->phase == phase && other.own == own &&
          has_experts(other.run->launches) == has_experts(e.run->launches) &&
          (vendor.empty() || other.run->device.vendor == vendor) &&
          run_device(other.run->device) != run_device(e.run->device))
        logs.push_back(std::log(ratio(other)));
    if (logs.size() < 5) continue;
    const Bounds bounds = conformal(std::move(logs), fit().runs.nominal);
    inside += std::log(ratio(e)) >= bounds.low && std::log(ratio(e)) <= bounds.high;
    all += 1;
  }
  return inside / all;
}

// By what `name` says of a run: steps and prompts side by side.
template <class Name>
std::string table(const char* head, bool own, Name name) {
  std::map<std::string, std::pair<Errors, Errors>> rows;
  for (const LeftOut& e : fit().left_out)
    if (e.own == own && fit().runs.width(e.run->phase, "", own, has_experts(e.run->launches)))
      (e.run->phase == Phase::decode ? rows[name(*e.run)].first : rows[name(*e.run)].second).add(e);
  std::string text = fmt::format(
      "| {} | decode runs | error, median / 90 % | inside | prompts | error, median / 90 % | "
      "inside "
      "|\n|---|---|---|---|---|---|---|\n",
      head);
  for (const auto& [label, both] : rows)
    text += fmt::format("| {} | {} {}\n", label, both.first.cells(), both.second.cells());
  return text + "\n";
}

std::string worst() {
  std::vector<LeftOut> all;
  for (const LeftOut& e : fit().left_out)
    if (e.own) all.push_back(e);
  std::stable_sort(all.begin(), all.end(), [](const LeftOut& a, const LeftOut& b) {
    return std::abs(std::log(ratio(a))) > std::abs(std::log(ratio(b)));
  });
  std::string text =
      "| device | model | weights | what | published tok/s | expected | published / expected | "
      "source |\n|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(12, all.size()); ++i) {
    const PublishedRun& r = *all[i].run;
    const auto rate = [&](Seconds t) { return shown(r.rate(t), Show::tokens_per_second); };
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {:.2f} | {} |\n", r.device.name, r.model, r.weights,
        r.phase == Phase::decode ? fmt::format("step at {}", r.context.n)
                                 : fmt::format("prompt of {} after {}", r.context.n, r.past),
        rate(r.measured), rate(all[i].predicted), 1 / ratio(all[i]), r.source);
  }
  return text;
}

std::string sources() {
  std::map<std::string, int> count;
  for (const PublishedRun& run : runs())
    ++count[run.source.substr(0, run.source.find(" benchmark/results"))];
  std::string text;
  for (const auto& [source, n] : count) text += fmt::format("- {} ({})\n", source, n);
  return text;
}

std::string page() {
  const auto taught = std::count_if(runs().begin(), runs().end(), teaches);
  std::set<std::string> devices;
  for (const PublishedRun& run : runs()) devices.insert(run_device(run.device));
  return fmt::format(
             "# Expected rates of llama.cpp against published runs\n\n"
             "What `kv-plan decode` and `prefill` expect of llama.cpp and Ollama on one device and "
             "for one sequence rests on {} rates on {} devices that people published "
             "(`tests/truth/measured_rates.yaml`), of which {} teach the fit "
             "(`configs/runs/llama.cpp.yaml`). A kernel takes a launch and the longer of its bytes "
             "at a share of the bandwidth and its operations at a share of the peak; shares are of "
             "a vendor, and by how much architectures and devices are off them is an average over "
             "their runs. Left out of the fit: batches, several GPUs, rates far off what the same "
             "card reaches "
             "elsewhere, prompts by Vulkan (up to three times as slow on the same card: of AMD's "
             "and Intel's cards prompt times are those of ROCm and SYCL) and prompts in blocks by "
             "builds before int8 tensor cores (ggml-org/llama.cpp#7860).\n"
             "Layers over several GPUs of one kind are expected to take 2 % longer than on one "
             "(57 pairs of runs on 2 to 8 GPUs).\n"
             "Each run below was predicted by a fit without it. Intervals are quantiles of "
             "published / predicted of such runs, aimed at 80 %; against intervals to which their "
             "own "
             "device adds nothing {:.0f} % of steps and {:.0f} % of prompts lay inside where the "
             "device has other runs, {:.0f} % and {:.0f} % where it has none. This file is "
             "generated "
             "by the planner; a test fails when it is stale.\n\n",
             runs().size(), devices.size(), taught, 100 * coverage_of_others(Phase::decode, true),
             100 * coverage_of_others(Phase::prefill, true),
             100 * coverage_of_others(Phase::decode, false),
             100 * coverage_of_others(Phase::prefill, false)) +
         "## A device with other runs, a model without\n\n" +
         table("architecture", true, [](const PublishedRun& r) { return run_family(r.device); }) +
         table("weights", true, [](const PublishedRun& r) { return r.weights; }) +
         "## A device without any run, others of its architecture with\n\n" +
         table("architecture", false, [](const PublishedRun& r) { return run_family(r.device); }) +
         table("weights", false, [](const PublishedRun& r) { return r.weights; }) +
         "## Worst cases\n\n" + worst() + "\n## Sources\n\n" + sources();
}

}  // namespace

TEST_CASE("configs/runs/llama.cpp.yaml is what published runs teach") {
  CHECK(generated_difference("configs/runs/llama.cpp.yaml", runs_text(fit().runs)) == "");
}

TEST_CASE("reports/llama-bench.md is what published runs and the fit say") {
  CHECK(generated_difference("reports/llama-bench.md", page()) == "");
}

TEST_CASE("published runs lie in intervals made of other devices' errors as often as promised") {
  for (const Phase phase : {Phase::decode, Phase::prefill})
    for (const bool own : {true, false}) {
      CAPTURE(own);
      const double inside = coverage_of_others(phase, own);
      CHECK(inside >= 0.75);
      CHECK(inside <= 0.9);
    }
  for (const PublishedRuns::Width& w : fit().runs.widths)
    if (!w.experts) CHECK(w.median_ape < 0.15);
}

TEST_CASE("what is expected of a published run by itself is near it, and below the ceiling") {
  const PublishedRuns& shipped = fit().runs;
  std::vector<double> apes;
  for (const PublishedRun& run : runs()) {
    if (!teaches(run)) continue;
    const Tokens tokens = run.phase == Phase::decode ? run.context : Tokens(run.past) + run.context;
    const Expected e = expected(run.launches, shipped, run.device, {run.phase, tokens, 512});
    if (!e.time) continue;
    CAPTURE(run.device.name);
    CAPTURE(run.model);
    if (!run.old) apes.push_back(std::abs(e.time->value / run.measured - 1));
    CHECK(run.measured > run.ceiling);
  }
  CHECK(apes.size() >= 200);
  CHECK(quantile(apes, 0.5) < 0.08);
}

TEST_CASE("layers over several GPUs take about as long as published beside one GPU") {
  std::vector<double> published;  // time on several GPUs / time on one
  for (const PublishedRun& several : runs())
    for (const PublishedRun& one : runs())
      if (several.gpus > 1 && one.gpus == 1 && several.source == one.source &&
          several.phase == one.phase && several.device.name == one.device.name &&
          several.model == one.model && several.weights == one.weights &&
          several.context == one.context)
        published.push_back(several.measured / one.measured);
  REQUIRE(published.size() >= 50);
  Setup setup;
  const Catalog catalog("");
  setup.model = apply_recipe(catalog.model("llama-3-8b"), "q4_k_m");
  setup.device = catalog.device("rtx-3090");
  setup.runs = std::make_shared<const PublishedRuns>(fit().runs);
  const Load load{Tokens(2048), 1};
  const Estimate one = *expected_step(setup, load, {}).time;
  setup.deployment.parallel.pp = 4;
  const Estimate four = *expected_step(setup, load, {}).time;
  CHECK(four.value / one.value == doctest::Approx(quantile(published, 0.5)).epsilon(0.01));
  CHECK(four.low / one.low == doctest::Approx(quantile(published, 0.1)).epsilon(0.01));
  CHECK(four.high / one.high == doctest::Approx(quantile(published, 0.9)).epsilon(0.01));
  CHECK_FALSE(expected_prompt(setup, load, {}).time);
  setup.deployment.parallel = {};
  setup.deployment.parallel.tp = 4;
  CHECK_FALSE(expected_step(setup, load, {}).time);
}
