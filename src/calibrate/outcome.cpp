// SPDX-License-Identifier: Apache-2.0
#include "calibrate/outcome.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include "calibrate/classes.h"
#include "calibrate/fit.h"

namespace kvplan {

std::optional<Shape> shape_of(const Problem& problem) {
  return std::visit(
      [](const auto& shape) -> std::optional<Shape> {
        if constexpr (std::is_constructible_v<Shape, decltype(shape)>)
          return Shape(shape);
        else
          return std::nullopt;
      },
      problem);
}

std::vector<Measured> measured_of(const Session& session) {
  std::vector<Measured> quiet, disturbed;
  for (const SampledShape& sampled : session.shapes) {
    const Samples& samples = sampled.samples;
    if (const auto shape = shape_of(sampled.problem))
      (2 * samples.admitted <= samples.times.size() ? quiet : disturbed)
          .push_back({*shape, Seconds(samples.spread().median), {}, samples.times});
  }
  std::map<Class, std::size_t> enough;
  for (const auto& [c, rows] : by_class(quiet)) enough[c] = rows.size();
  for (Measured& row : disturbed) {
    const std::vector<Class> classes = classes_of(row);
    if (std::any_of(classes.begin(), classes.end(),
                    [&](const Class& c) { return enough[c] < kLeastRows; }))
      quiet.push_back(std::move(row));
  }
  return quiet;
}

Profile profile_of(const Session& session, std::uint64_t seed) {
  const auto rate_of = [](const SampledShape& stream) -> std::optional<BytesPerSecond> {
    if (stream.samples.times.empty()) return std::nullopt;
    return work_of(stream.problem).moved / Seconds(stream.samples.spread().median);
  };
  Profile profile;
  profile.device = session.device.name;
  profile.title = session.device.title;
  profile.machine = session.read.how;
  profile.origin = "measured on this machine";
  profile.stream_read = rate_of(session.read);
  profile.stream_copy = rate_of(session.copy);
  if (!session.launch.samples.times.empty())
    profile.launch = Seconds(session.launch.samples.spread().median);
  profile.measured = measured_of(session);
  FitOptions options;
  options.seed = seed;
  profile.fits = fit_all(profile.measured, options);
  return profile;
}

}  // namespace kvplan
