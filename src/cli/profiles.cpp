// SPDX-License-Identifier: Apache-2.0
#include "cli/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "catalog/files.h"
#include "catalog/profile_file.h"
#include "catalog/runs_file.h"
#include "cost/transfer.h"
#include "plan/expectation.h"

namespace kvplan {
namespace {

constexpr const char* kScaled = "profile-scaled";

Profile profile_in(CatalogEntry entry) {
  entry.text = laws_in(entry.text);
  return read_entry(entry, [](const Node& file) { return read_profile(file); });
}

Profile named_profile(const std::string& name, const Catalog& catalog) {
  if (const auto entry = catalog.find("profiles", name)) return profile_in(*entry);
  if (!std::filesystem::exists(name))
    throw Error("there is no profile '" + name.substr(0, 120) + "'")
        .of("--profile")
        .advise("Name a file that calibrate wrote, or none.");
  try {
    return read_profile(parse_yaml(laws_in(read_text_file(name))));
  } catch (Error& e) {
    throw e.in(name);
  }
}

bool siblings(const DeviceSpec& a, const DeviceSpec& b) {
  if (a.vendor != b.vendor) return false;
  if (a.compute_capability || b.compute_capability)
    return a.compute_capability == b.compute_capability;
  return a.architecture == b.architecture && !a.architecture.empty();
}

// Of the parts with the same processor design, though not with the same memory, the one whose
// memory is most alike.
std::optional<Profile> sibling_profile(const DeviceSpec& device, const Catalog& catalog) {
  std::optional<CatalogEntry> nearest;
  double least = 0;
  for (const CatalogEntry& entry : catalog.entries("profiles")) {
    if (!catalog.find("devices", entry.name)) continue;
    const DeviceSpec other = catalog.device(entry.name);
    if (!siblings(other, device)) continue;
    const double apart = std::abs(std::log(other.bandwidth.value / device.bandwidth.value));
    if (nearest && !(apart < least)) continue;
    nearest = entry;
    least = apart;
  }
  if (!nearest) return std::nullopt;
  return profile_in(*nearest);
}

// Scaled to the device where it is of another one, or where --bandwidth changed it.
Profile fitted(Profile profile, const DeviceSpec& device, const Request& request,
               const Catalog& catalog, Resolved& r) {
  const std::string name = profile.device, source = profile.origin;
  if (name != device.name || request.bandwidth) {
    if (!catalog.find("devices", name))
      throw Error("this profile is of " + name + ", which is not in the catalog")
          .of("--profile")
          .advise("Name a profile of this device.");
    profile = transferred(profile, catalog.device(name), device);
    r.warnings.push_back(
        {kScaled, fmt::format("expected times are scaled from the profile of {} by the "
                              "ratios of the datasheets; their intervals are as wide as "
                              "such steps erred between parts that were measured",
                              name)});
  }
  r.assumptions.push_back({"--profile", name, Basis::calibrated, source});
  return profile;
}

std::optional<Profile> profile_in(const Catalog& catalog, const DeviceSpec& device) {
  if (const auto entry = catalog.find("profiles", device.name)) return profile_in(*entry);
  return sibling_profile(device, catalog);
}

// Nothing was scaled where nothing is expected.
void forget_scaling(Resolved& r) {
  std::erase_if(r.warnings, [](const Warning& w) { return w.code == kScaled; });
}

std::string expected_note(const Expected& expected) {
  const std::string timed =
      expected.stand_in.empty()
          ? ""
          : fmt::format(
                " Never measured and timed by another kernel's law, in a wider interval: {}.",
                expected.stand_in);
  return fmt::format(
      "Expected: the kernels of a step one after the other. {:.0f}% of unseen kernel times lay "
      "within such intervals; norms, samplers and gaps between kernels come on top.{}",
      100 * expected.time->coverage, timed);
}

std::string runs_note(const Estimate& time, const std::string& runs) {
  return fmt::format(
      "Expected: from {}; {:.0f}% of runs left out of such a fit lay within the interval.", runs,
      100 * time.coverage);
}

// Not one that ships: those stand under their kind.
bool is_users_own(const Catalog& catalog, const DeviceSpec& device) {
  const auto entry = catalog.find("profiles", device.name);
  return entry && !entry->file.starts_with("profiles/");
}

void choose_runs(const Catalog& catalog, Resolved& r) {
  if (!is_run_by_llamacpp(r.setup.model, r.setup.engine) || r.setup.device->kind == "cpu") return;
  r.setup.runs = runs_of_llamacpp(catalog);
}

std::shared_ptr<const Profile> shared(Profile profile) {
  return std::make_shared<const Profile>(std::move(profile));
}

}  // namespace

std::shared_ptr<const PublishedRuns> runs_of_llamacpp(const Catalog& catalog) {
  const auto entry = catalog.find("runs", "llama.cpp");
  if (!entry) return nullptr;
  return std::make_shared<const PublishedRuns>(
      read_entry(*entry, [](const Node& file) { return read_runs(file); }));
}

void choose_profile(const Request& request, const Catalog& catalog, Resolved& r) {
  if (!r.setup.device || request.profile == "none") return;
  const DeviceSpec& device = *r.setup.device;
  choose_runs(catalog, r);
  std::optional<Profile> profile;
  if (request.profile)
    profile = named_profile(*request.profile, catalog);
  else if (!r.setup.runs ||
           is_users_own(catalog, device))  // others are of another engine's kernels
    profile = profile_in(catalog, device);
  if (profile) r.setup.profile = shared(fitted(std::move(*profile), device, request, catalog, r));
}

void choose_profiles(const Request& request, const Catalog& catalog, Machine& machine,
                     Resolved& r) {
  if (request.profile == "none") return;
  std::optional<Profile> named;
  if (request.profile) named = named_profile(*request.profile, catalog);
  bool used = false;
  const auto choose = [&](const DeviceSpec& device) -> std::shared_ptr<const Profile> {
    const bool is_named = named && named->device == device.name;
    used = used || is_named;
    auto profile = is_named ? named : profile_in(catalog, device);
    if (!profile) return nullptr;
    return shared(fitted(std::move(*profile), device, request, catalog, r));
  };
  for (const DeviceSpec& gpu : machine.gpus) {
    const bool again = &gpu != &machine.gpus.front() && gpu.name == (&gpu - 1)->name;
    machine.gpu_profiles.push_back(again ? machine.gpu_profiles.back() : choose(gpu));
  }
  if (machine.host) machine.host_profile = choose(*machine.host);
  if (named && !used)
    throw Error("this profile is of " + named->device + ", which is no part of this machine")
        .of("--profile")
        .advise("Name a profile of one of its parts.");
}

void add_expected_note(Table& table, Resolved& r, const Expected& first) {
  if (first.time && !first.rests_on.empty()) {
    forget_scaling(r);
    note(r, "expected", "llama.cpp", Basis::published,
         first.rests_on + ": " + r.setup.runs->origin);
    return table.notes.push_back(runs_note(*first.time, first.rests_on));
  }
  if (first.time) return table.notes.push_back(expected_note(first));
  forget_scaling(r);
  if (first.why_not.empty()) return;
  const bool by_runs = r.setup.runs != nullptr;
  table.notes.push_back(
      fmt::format("No expected figure: {}{}.", first.why_not,
                  by_runs ? "" : " in the profile of " + r.setup.profile->device));
}

void add_expected_note(Table& table, const Machine& machine, Resolved& r, const Expected& first) {
  const auto& gpus = machine.gpu_profiles;
  if (!machine.host_profile && std::none_of(gpus.begin(), gpus.end(), [](auto& p) { return p; }))
    return;
  if (first.time) return table.notes.push_back(expected_note(first));
  forget_scaling(r);
  table.notes.push_back(fmt::format("No expected figure: {}.", first.why_not));
}

}  // namespace kvplan
