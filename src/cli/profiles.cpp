// SPDX-License-Identifier: Apache-2.0
#include "cli/profiles.h"

#include <fmt/format.h>

#include <filesystem>

#include "catalog/files.h"
#include "catalog/profile_file.h"
#include "cost/transfer.h"

namespace kvplan {
namespace {

constexpr const char* kScaled = "profile-scaled";

Profile read_entry(const CatalogEntry& entry) {
  try {
    return read_profile(parse_yaml(entry.text));
  } catch (Error& e) {
    throw e.in(entry.file);
  }
}

Profile named_profile(const std::string& name, const Catalog& catalog) {
  if (const auto entry = catalog.find("profiles", name)) return read_entry(*entry);
  if (!std::filesystem::exists(name))
    throw Error("there is no profile '" + name.substr(0, 120) + "'")
        .of("--profile")
        .advise("Name a file that calibrate wrote, or none.");
  try {
    return read_profile(read_tree(name));
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

// Parts with the same processor design, though not with the same memory.
std::optional<Profile> sibling_profile(const DeviceSpec& device, const Catalog& catalog) {
  for (const CatalogEntry& entry : catalog.entries("profiles"))
    if (catalog.find("devices", entry.name) && siblings(catalog.device(entry.name), device))
      return read_entry(entry);
  return std::nullopt;
}

// The same device, and nothing about it was changed on the command line.
bool is_own(const Profile& profile, const DeviceSpec& device, const Request& request) {
  return profile.device == device.name && !request.bandwidth;
}

}  // namespace

void choose_profile(const Request& request, const Catalog& catalog, Resolved& r) {
  if (!r.setup.device || request.profile == "none") return;
  const DeviceSpec& device = *r.setup.device;
  std::optional<Profile> profile;
  if (request.profile)
    profile = named_profile(*request.profile, catalog);
  else if (const auto entry = catalog.find("profiles", device.name))
    profile = read_entry(*entry);
  else
    profile = sibling_profile(device, catalog);
  if (!profile) return;
  std::string source = profile->origin;
  const std::string name = profile->device;
  if (!is_own(*profile, device, request)) {
    if (!catalog.find("devices", name))
      throw Error("this profile is of " + name + ", which is not in the catalog")
          .of("--profile")
          .advise("Name a profile of this device.");
    profile = transferred(*profile, catalog.device(name), device);
    r.warnings.push_back(
        {kScaled, fmt::format("expected times are scaled from the profile of {} by the "
                              "ratios of the datasheets; their intervals are as wide as "
                              "such a step erred from the A100 to the H100",
                              name)});
  }
  r.assumptions.push_back({"--profile", name, Basis::calibrated, std::move(source)});
  r.setup.profile = std::make_shared<const Profile>(std::move(*profile));
}

void add_expected_note(Table& table, Resolved& r, const Expected& first) {
  if (!r.setup.profile) return;
  if (!first.time) {
    std::erase_if(r.warnings, [](const Warning& w) { return w.code == kScaled; });
    return table.notes.push_back(fmt::format("No expected figure: {} in the profile of {}.",
                                             first.why_not, r.setup.profile->device));
  }
  table.notes.push_back(fmt::format(
      "Expected: the kernels of a step one after the other. {:.0f}% of unseen kernel times lay "
      "within such intervals; norms, samplers and gaps between kernels come on top.",
      100 * first.time->coverage));
}

}  // namespace kvplan
