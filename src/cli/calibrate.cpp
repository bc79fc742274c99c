// SPDX-License-Identifier: Apache-2.0
// kv-plan calibrate --from TABLE [--holdout TABLE] --device NAME: times measured elsewhere become a
// profile.
#include "cli/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "calibrate/csv.h"
#include "calibrate/fit.h"
#include "calibrate/table_remarks.h"
#include "catalog/profile_file.h"
#include "cli/local.h"
#include "cli/output.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/profile.h"
#include "report/version.h"

namespace kvplan {
namespace {

// SOURCE_DATE_EPOCH (reproducible-builds.org) makes the same tables the same file on any day.
std::time_t time_of_fit() {
  const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
  if (!fixed || !*fixed) return std::time(nullptr);
  std::int64_t seconds = 0;
  const char* end = fixed + std::strlen(fixed);
  const auto [stop, error] = std::from_chars(fixed, end, seconds);
  if (error != std::errc() || stop != end || seconds < 0 || seconds > 253402300799)  // year 9999
    throw Error("expected whole seconds since 1970").of("SOURCE_DATE_EPOCH");
  return static_cast<std::time_t>(seconds);
}

std::string today() {
  const std::time_t now = time_of_fit();
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

MeasuredTable read_all(const std::vector<std::string>& paths, const DeviceSpec& device) {
  MeasuredTable all;
  for (const std::string& path : paths) {
    const MeasuredTable one = read_measured_file(path, device.name);
    try {
      require_plausible(one, device);
    } catch (Error& error) {
      throw error.in(path);
    }
    all.rows.insert(all.rows.end(), one.rows.begin(), one.rows.end());
    all.left_out += one.left_out;
    for (const auto& [why, rows] : one.left_out_for) all.left_out_for[why] += rows;
  }
  return all;
}

std::string files_named(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths)
    names += (names.empty() ? "" : ", ") + std::filesystem::path(path).filename().string();
  return names;
}

// Which shapes, that a fit never saw, its errors are of.
std::string whose_errors(const std::vector<Fit>& fits) {
  std::string left_out, judged_too;
  for (const Fit& fit : fits) {
    std::string& names = fit.holdout ? judged_too : left_out;
    const std::string subject = subject_of(fit);
    names += (names.empty() ? "" : ", ") + std::string(name_of(fit.op)) +
             (subject.empty() ? "" : " " + subject);
  }
  if (judged_too.empty()) return "Errors are those of axis values left out of the fit in turn.";
  if (left_out.empty()) return "Errors are those of the table given to judge.";
  return "Errors are those of the table given to judge; it has no rows of " + left_out +
         ": there they are of axis values left out of the fit in turn.";
}

std::string lead_of(const Profile& profile) {
  const auto worst =
      std::max_element(profile.fits.begin(), profile.fits.end(), [](const Fit& a, const Fit& b) {
        return judged(a).value_or(Quality{}).median_ape < judged(b).value_or(Quality{}).median_ape;
      });
  const auto quality = judged(*worst);
  std::string text = fmt::format("{}: {} laws fitted", profile.title, profile.fits.size());
  if (quality)
    text += fmt::format("; on shapes left out of the fit, half of the times lie within {} ({})",
                        shown(quality->median_ape, Show::percent), name_of(worst->op));
  return text + ".";
}

}  // namespace

void stamp(Profile& profile) {
  profile.date = today();
  profile.written_by = "kv-plan " + std::string(version());
}

std::string users_profile_path(const Profile& profile) {
  const std::string folder = user_catalog_folder();
  if (folder.empty())
    throw Error("there is no data folder").advise("Set HOME, or say --save FILE.");
  return folder + "/profiles/" + profile.device + ".yaml";
}

std::unique_ptr<Output> place_to_save(const Request& request) {
  return request.save ? std::make_unique<Output>(*request.save) : nullptr;
}

std::optional<std::string> save_profile(const Request& request, const Profile& profile,
                                        const std::optional<std::string>& otherwise,
                                        Output* place) {
  if (place) {
    place->write(profile_text(profile));
    return place->is_stdout() ? std::nullopt : request.save;
  }
  if (!otherwise) return std::nullopt;
  std::error_code ignored;  // the output says what is wrong
  std::filesystem::create_directories(std::filesystem::path(*otherwise).parent_path(), ignored);
  Output(*otherwise).write(profile_text(profile));
  return otherwise;
}

Answer answer_profile(const Profile& profile, const std::optional<std::string>& saved_to,
                      std::vector<Warning> warnings) {
  Document document;
  document.command = "calibrate";
  document.title = "Calibration of " + profile.title;
  document.body.emplace_back("profile", value(profile));
  document.body.emplace_back("fit", value(profile.fits));
  document.lead = {lead_of(profile)};
  Table fits = table<Fit>("fit", "Fit");
  fits.notes = {whose_errors(profile.fits) + " The interval is meant to hold 80% of unseen times."};
  document.tables = {std::move(fits)};
  if (saved_to) document.closing.push_back("The profile is in " + *saved_to + ".");
  document.body.emplace_back("warnings", value(warnings));
  return {std::move(document), 0, std::move(warnings)};
}

Answer answer_calibrate(const Request& request, const Catalog& catalog) {
  if (request.from.empty()) {
    for (const auto& [given, option] : {std::pair(!request.holdout.empty(), "--holdout"),
                                        {request.origin.has_value(), "--origin"},
                                        {request.licence.has_value(), "--licence"}})
      if (given)
        throw Error("goes with times that were measured elsewhere")
            .of(option)
            .advise("Name their tables with --from.");
    return answer_calibrate_local(request);
  }
  if (!request.run_device)
    throw Error("needs the device that was measured").of("--from").advise("Say --device h100-sxm.");
  const auto place = place_to_save(request);
  const DeviceSpec device = device_named(catalog, *request.run_device);
  const MeasuredTable table = read_all(request.from, device),
                      holdout = read_all(request.holdout, device);
  FitOptions options;
  options.caches = Caches::warm;
  if (device.bandwidth.value > BytesPerSecond(0)) options.datasheet = device;
  options.seed = static_cast<std::uint64_t>(request.seed.value_or(1));
  Profile profile;
  profile.device = device.name;
  profile.title = device.title;
  profile.origin = request.origin.value_or(files_named(request.from));
  profile.licence = request.licence.value_or("");
  stamp(profile);
  profile.fits = fit_all(table.rows, options);
  if (profile.fits.empty()) throw no_fit_of(table).of("--from");
  judge(profile.fits, holdout.rows, options.caches);
  std::vector<Warning> warnings = remarks_on(table, holdout, profile.fits, device);
  return answer_profile(profile, save_profile(request, profile, std::nullopt, place.get()),
                        std::move(warnings));
}

}  // namespace kvplan
