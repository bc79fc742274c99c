// SPDX-License-Identifier: Apache-2.0
// What both kinds of calibration share: a fitted profile becomes a file and an answer.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/output.h"
#include "cost/profile.h"

namespace kvplan {

// The file of --save, opened before the work starts; nullptr where none is named.
std::unique_ptr<Output> place_to_save(const Request&);
// Writes the profile there, else to `otherwise` where one is given (folders are made). Returns
// where it went.
std::optional<std::string> save_profile(const Request&, const Profile&,
                                        const std::optional<std::string>& otherwise, Output* place);
// Notes when the fit was made, and by which version.
void stamp(Profile&);
// Where decode and plan look for this device's profile: the user's data folder.
std::string users_profile_path(const Profile&);

// The document of a calibration: what was measured, the fit and its errors. `saved_to` as from
// save_profile.
Answer answer_profile(const Profile&, const std::optional<std::string>& saved_to,
                      std::vector<Warning>);

// Measures this machine.
Answer answer_calibrate_local(const Request&);
// `kv-plan calibrate`: with --from on tables measured elsewhere, else on this machine.
Answer answer_calibrate(const Request&, const Catalog&);

}  // namespace kvplan
