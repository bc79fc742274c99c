// SPDX-License-Identifier: Apache-2.0
#include "calibrate/remarks.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvplan {
namespace {

constexpr double kMuchLoad = 0.10;    // of the processors
constexpr double kCachesCovered = 4;  // buffers / last-level cache

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void about_load(const Session& s, std::vector<Warning>& out) {
  if (s.other_load && *s.other_load > kMuchLoad)
    out.push_back(
        {"other-load",
         fmt::format("other programs had {} of the processors; rates are too low by about "
                     "as much. Stop them and calibrate again.",
                     percent(*s.other_load))});
}

void about_noise(const Session& s, std::vector<Warning>& out) {
  const auto noisy =
      std::count_if(s.shapes.begin(), s.shapes.end(),
                    [&](const SampledShape& shape) { return shape.samples.noisy(s.rules); });
  if (!s.read.samples.times.empty() && s.read.samples.noisy(s.rules))
    out.push_back({"noisy-stream",
                   fmt::format("reading memory alone varied by {} (10th to 90th percentile). Stop "
                               "other work, or take more samples with --full.",
                               percent(s.read.samples.spread().noise()))});
  else if (!s.shapes.empty() && 4 * noisy > static_cast<std::ptrdiff_t>(s.shapes.size()))
    out.push_back({"noisy-shapes",
                   fmt::format("{} of {} shapes varied by more than {}. Stop other work, or take "
                               "more samples with --full.",
                               noisy, s.shapes.size(), percent(s.rules.noise))});
}

void about_throttling(const Session& s, std::vector<Warning>& out) {
  if (s.discarded > 0)
    out.push_back({"throttled",
                   fmt::format("{} samples were thrown away because the clock was below {} of its "
                               "highest. Check cooling and the power limit.",
                               s.discarded, percent(s.rules.clock_share))});
}

void about_disturbance(const Session& s, std::vector<Warning>& out) {
  if (s.disturbed == 0 && s.admitted == 0) return;
  std::string text = fmt::format(
      "{} samples were thrown away because others had the processor meanwhile", s.disturbed);
  if (s.admitted > 0)
    text += fmt::format("; {} such were kept, since too few were undisturbed", s.admitted);
  out.push_back({"disturbed", text + ". Stop other work, or calibrate again when it is done."});
}

void about_memory(const Session& s, std::vector<Warning>& out) {
  if (!s.buffers || !s.device.last_level_cache) return;
  const Bytes cache = s.device.last_level_cache->value;
  if (s.buffers->real() < kCachesCovered * cache.real())
    out.push_back({"short-of-memory",
                   fmt::format("only {} MiB were free for buffers, beside a cache of {} MiB: rates "
                               "may be too high. Free some memory.",
                               s.buffers->n / kMiB, cache.n / kMiB)});
}

}  // namespace

std::vector<Warning> remarks_on(const Session& session) {
  std::vector<Warning> all;
  if (session.partial)
    all.push_back({"partial", "interrupted: these are the shapes that were measured until then."});
  about_load(session, all);
  about_noise(session, all);
  about_throttling(session, all);
  about_disturbance(session, all);
  about_memory(session, all);
  for (const std::string& what : session.missing) all.push_back({"missing-library", what});
  return all;
}

}  // namespace kvplan
