// SPDX-License-Identifier: Apache-2.0
#include "runs/run_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "calibrate/least_squares.h"
#include "calibrate/statistics.h"
#include "cost/decode.h"
#include "cost/prefill.h"
#include "engine/logged_shape.h"
#include "model/recipe.h"

namespace kvplan::test {
namespace {

constexpr const char* kOrigin =
    "llama-bench and Ollama, as published in ggml-org/llama.cpp and other public repositories: "
    "reports/llama-bench.md lists them";

double real_at(const Node& row, const char* key) {
  const Node* found = row.find(key);
  return found ? found->number().value_or(0) : 0;
}

// What old builds take more of: launches before CUDA graphs, prompts before today's kernels.
struct Age {
  double launch = 1, cache = 1, rate = 1, attention = 1;
};

RunLaw aged(RunLaw law, const Age& age) {
  law.launch = law.launch * age.launch;
  law.cache /= age.cache;
  law.rate_sixteen /= age.rate;
  law.rate_fewer /= age.rate;
  law.rate_experts /= age.rate;
  law.rate_attention /= age.rate * age.attention;
  return law;
}

struct Constants {
  RunLaw law;
  Age age;
};

// The constants that runs of a phase tell of.
std::vector<double*> free_constants(Constants& c, Phase phase) {
  RunLaw& l = c.law;
  if (phase == Phase::decode)
    return {&l.launch.v, &l.expert_launches, &l.sixteen,    &l.eight,    &l.fewer,
            &l.experts,  &l.cache,           &c.age.launch, &c.age.cache};
  return {&l.rate_sixteen,   &l.rate_fewer, &l.rate_experts,
          &l.rate_attention, &c.age.rate,   &c.age.attention};
}

using Runs = std::vector<const PublishedRun*>;
using Offsets = std::map<std::string, PublishedRuns::Offset>;
struct Effects {
  Offsets families, devices;

  double of(const PublishedRun& run) const {
    double log = 0;
    if (const auto f = families.find(run_family(run.device)); f != families.end())
      log += std::log(f->second.factor);
    if (const auto d = devices.find(run_device(run.device)); d != devices.end())
      log += std::log(d->second.factor);
    return log;
  }
};

double log_error(const PublishedRun& run, const Constants& c) {
  const auto t = time(run.old ? aged(c.law, c.age) : c.law, run.terms, run.device);
  return std::log(run.measured / t.value());
}

// Means over devices and over runs, drawn to none where they are few; prompts of dense
// models where there are such, since the rates of experts are another matter.
Effects effects_of(const Runs& runs, const std::map<std::string, Constants>& constants) {
  constexpr double kFamily = 0.5, kDevice = 0.5;
  std::map<std::string, std::map<std::string, std::vector<double>>> errors;
  std::set<std::string> dense;
  for (const PublishedRun* run : runs)
    if (!has_experts(run->launches)) dense.insert(run_device(run->device));
  for (const PublishedRun* run : runs) {
    const std::string device = run_device(run->device);
    if (run->phase == Phase::prefill && has_experts(run->launches) && dense.count(device)) continue;
    errors[run_family(run->device)][device].push_back(
        log_error(*run, constants.at(run->device.vendor)));
  }
  Effects effects;
  for (const auto& [family, devices] : errors) {
    double sum = 0;
    std::int64_t count = 0;
    for (const auto& [device, logs] : devices) {
      sum += quantile(logs, 0.5);
      count += static_cast<std::int64_t>(logs.size());
    }
    const double mean = sum / (static_cast<double>(devices.size()) + kFamily);
    effects.families[family] = {std::exp(mean), count};
    for (const auto& [device, logs] : devices) {
      double off = 0;
      for (const double log : logs) off += log - mean;
      const auto n = static_cast<double>(logs.size());
      effects.devices[device] = {std::exp(off / (n + kDevice)),
                                 static_cast<std::int64_t>(logs.size())};
    }
  }
  return effects;
}

void fit_constants(Constants& c, const Runs& runs, const Effects& effects, Phase phase,
                   const Constants& start, int steps) {
  std::map<std::string, double> count;
  for (const PublishedRun* run : runs) count[run_device(run->device)] += 1;
  Constants tried = c, from = start;
  const auto free = free_constants(tried, phase), first = free_constants(from, phase);
  std::vector<double> x;
  Box box;
  for (double* value : first) {
    x.push_back(std::log(*value));
    box.low.push_back(x.back() - 2);
    box.high.push_back(x.back() + 2);
  }
  double level = 0;  // of all offsets: the law's to take
  for (const PublishedRun* run : runs) level += effects.of(*run) / static_cast<double>(runs.size());
  const auto residuals = [&](const std::vector<double>& at, std::vector<double>& out) {
    for (std::size_t i = 0; i < at.size(); ++i) *free[i] = std::exp(at[i]);
    out.clear();
    for (const PublishedRun* run : runs)
      out.push_back((log_error(*run, tried) - effects.of(*run) + level) /
                    std::sqrt(count[run_device(run->device)]));
  };
  Search search;
  search.scale = 0.1;
  search.pull = 0.3;
  search.most_steps = steps;
  const Minimum best = minimise(residuals, x, box, search);
  std::vector<double> unused;
  residuals(best.at, unused);
  c = tried;
}

struct Model {
  std::map<std::string, Constants> constants;  // by vendor
  Effects effects;

  Seconds predicted(const PublishedRun& run) const {
    const Constants& c = constants.at(run.device.vendor);
    return *time(run.old ? aged(c.law, c.age) : c.law, run.terms, run.device) *
           std::exp(effects.of(run));
  }
};

Runs of_vendor(const Runs& runs, const std::string& vendor) {
  Runs some;
  for (const PublishedRun* run : runs)
    if (run->device.vendor == vendor) some.push_back(run);
  return some;
}

// Laws and offsets in turn. What a vendor's runs do not determine stays as all vendors' have it.
Model model_of(const Runs& runs, Phase phase, const std::map<std::string, Constants>& known,
               int rounds, int steps) {
  Model model{known, {}};
  for (const PublishedRun* run : runs) model.constants.emplace(run->device.vendor, Constants{});
  for (int round = 0; round < rounds; ++round) {
    model.effects = effects_of(runs, model.constants);
    for (auto& [vendor, constants] : model.constants) {
      const auto from = known.find(vendor);
      fit_constants(constants, of_vendor(runs, vendor), model.effects, phase,
                    from == known.end() ? Constants{} : from->second, steps);
    }
  }
  model.effects = effects_of(runs, model.constants);
  return model;
}

// Each eighth of the groups is predicted by what the others teach.
std::vector<LeftOut> left_out(const Runs& runs, Phase phase,
                              const std::map<std::string, Constants>& known,
                              const std::function<std::string(const PublishedRun&)>& group,
                              bool own) {
  constexpr std::size_t kFolds = 8;
  std::map<std::string, std::size_t> folds;
  for (const PublishedRun* run : runs) folds.emplace(group(*run), 0);
  std::size_t next = 0;
  for (auto& [name, fold] : folds) fold = next++ % kFolds;
  std::vector<LeftOut> all;
  for (std::size_t f = 0; f < kFolds; ++f) {
    Runs kept, out;
    for (const PublishedRun* run : runs) (folds[group(*run)] == f ? out : kept).push_back(run);
    const Model model = model_of(kept, phase, known, 1, 3);
    for (const PublishedRun* run : out) {
      const bool has_device = model.effects.devices.count(run_device(run->device)) > 0;
      const bool has_family = model.effects.families.count(run_family(run->device)) > 0;
      if (own ? !has_device : !has_family) continue;
      all.push_back({run, model.predicted(*run), own});
    }
  }
  return all;
}

// Of the errors of a vendor's runs, or with an empty name of all; empty with fewer than `least`.
std::optional<PublishedRuns::Width> width_of(const std::vector<LeftOut>& errors,
                                             PublishedRuns::Width width, double nominal,
                                             std::size_t least) {
  std::vector<double> logs, apes;
  for (const LeftOut& e : errors)
    if (has_experts(e.run->launches) == width.experts &&
        (width.vendor.empty() || e.run->device.vendor == width.vendor)) {
      logs.push_back(std::log(e.run->measured / e.predicted));
      apes.push_back(std::abs(e.predicted / e.run->measured - 1));
    }
  if (logs.size() < least) return std::nullopt;
  const Bounds bounds = conformal(logs, nominal);
  width.low = std::exp(std::min(bounds.low, 0.0));
  width.high = std::exp(std::max(bounds.high, 0.0));
  width.runs = static_cast<std::int64_t>(logs.size());
  width.median_ape = quantile(apes, 0.5);
  width.p90_ape = quantile(apes, 0.9);
  double inside = 0;
  for (const double log : logs) inside += log >= std::log(width.low) && log <= std::log(width.high);
  width.coverage = inside / static_cast<double>(logs.size());
  return width;
}

void add(std::vector<PublishedRuns::Group>& groups, const Offsets& offsets, Phase phase) {
  for (const auto& [name, offset] : offsets) {
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->offsets[static_cast<std::size_t>(phase)] = offset;
  }
}

// Rows share devices and models.
struct Read {
  const Catalog& catalog;
  std::map<std::string, DeviceSpec> devices;
  std::map<std::string, ModelSpec> models;

  const DeviceSpec& device(const std::string& name) {
    const auto found = devices.find(name);
    return found != devices.end() ? found->second
                                  : devices.emplace(name, catalog.device(name)).first->second;
  }
  const ModelSpec& model(const std::string& name, const std::string& weights) {
    const auto found = models.find(name + weights);
    if (found != models.end()) return found->second;
    return models.emplace(name + weights, apply_recipe(catalog.model(name), weights)).first->second;
  }
};

PublishedRun run_of(const Node& row, Read& read, Phase phase) {
  PublishedRun run;
  run.phase = phase;
  run.device = read.device(text_at(row, "device"));
  run.model = text_at(row, "model");
  run.weights = text_at(row, "weights");
  run.source = text_at(row, "source");
  run.batch = integer_at(row, "batch", 1);
  run.past = integer_at(row, "past");
  run.gpus = integer_at(row, "gpus", 1);
  run.old = row.find("built") != nullptr;
  run.vulkan = text_at(row, "backend") == "vulkan";
  run.odd = row.find("odd") != nullptr;
  const ModelSpec& model = read.model(run.model, run.weights);
  Deployment deployment;
  deployment.cache = cache_formats("fp16");
  if (phase == Phase::decode) {
    run.context = Tokens(integer_at(row, "context", 64));
    run.launches = decode_launches(model, deployment, run.context, run.batch);
    run.measured = Seconds(static_cast<double>(run.batch) / real_at(row, "decode"));
    deployment.parallel.pp = run.gpus;
    run.ceiling =
        DecodeModel(model, deployment, run.device).at(run.context, run.batch).seconds.value();
  } else {
    run.context = Tokens(integer_at(row, "prompt", 512));
    run.launches = pass_launches(model, deployment, {run.context.n, run.past, true});
    run.measured = Seconds(run.context.real() / real_at(row, "prefill"));
    const auto whole = [&](std::int64_t n) {
      return prefill(model, deployment, run.device, Tokens(n), 1).seconds.value();
    };
    run.ceiling =
        run.past ? whole(run.past + run.context.n) - whole(run.past) : whole(run.context.n);
  }
  run.terms =
      run_terms(run.launches, integer_at(row, "ubatch", 512)).value_or(std::vector<RunTerm>());
  return run;
}

}  // namespace

bool teaches(const PublishedRun& run) {
  if (run.batch > 1 || run.gpus > 1 || run.odd || run.terms.empty() ||
      !run.launches.missing.empty())
    return false;
  if (!time(RunLaw{}, run.terms, run.device)) return false;
  return run.phase == Phase::decode || !(run.vulkan || (run.old && run.weights != "f16"));
}

std::vector<PublishedRun> published_runs(const Catalog& catalog) {
  Read read{catalog, {}, {}};
  std::vector<PublishedRun> runs;
  for (const Node& row : truth_rows("measured_rates.yaml")) {
    if (row.find("decode")) runs.push_back(run_of(row, read, Phase::decode));
    if (row.find("prefill")) runs.push_back(run_of(row, read, Phase::prefill));
  }
  return runs;
}

namespace {

void measure_lengths(const PublishedRun& run, PublishedRuns& result) {
  if (run.phase == Phase::decode) {
    result.longest_context = std::max(result.longest_context, run.context);
  } else {
    result.longest_prompt = std::max(result.longest_prompt, Tokens(run.past) + run.context);
    result.shortest_prompt = std::min(result.shortest_prompt, run.context);
  }
}

}  // namespace

RunFit fitted(const std::vector<PublishedRun>& all) {
  constexpr std::size_t kLeast = 5, kLeastOfVendor = 20;
  RunFit fit;
  PublishedRuns& result = fit.runs;
  result.engine = "llama.cpp";
  result.origin = kOrigin;
  result.date = "2026-11-30";
  result.longest_context = result.longest_prompt = Tokens(0);
  result.shortest_prompt = Tokens(INT64_MAX);
  std::map<std::string, Constants> known;
  std::set<std::string> formats;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    Runs runs;
    for (const PublishedRun& run : all)
      if (run.phase == phase && teaches(run)) runs.push_back(&run);
    const Model model = model_of(runs, phase, known, 4, 12);
    for (const bool own : {true, false}) {
      const auto errors = left_out(
          runs, phase, model.constants,
          [&](const PublishedRun& r) { return run_device(r.device) + (own ? "/" + r.model : ""); },
          own);
      fit.left_out.insert(fit.left_out.end(), errors.begin(), errors.end());
      for (const bool experts : {false, true})
        for (const char* vendor : {"", "AMD", "Apple", "NVIDIA"})
          if (const auto width = width_of(errors, {phase, vendor, own, experts}, result.nominal,
                                          *vendor ? kLeastOfVendor : kLeast))
            result.widths.push_back(*width);
    }
    known = model.constants;
    add(result.families, model.effects.families, phase);
    add(result.devices, model.effects.devices, phase);
    for (const PublishedRun* run : runs) measure_lengths(*run, result);
    for (const PublishedRun* run : runs)
      for (const Launch& l : run->launches.all) {
        if (const auto* gemm = std::get_if<GemmShape>(&l.shape))
          formats.emplace(gemm->weights->name);
        if (const auto* moe = std::get_if<MoeShape>(&l.shape)) formats.emplace(moe->weights->name);
      }
  }
  result.formats.assign(formats.begin(), formats.end());
  for (const auto& [vendor, constants] : known) result.vendors.push_back({vendor, constants.law});
  return fit;
}

}  // namespace kvplan::test
