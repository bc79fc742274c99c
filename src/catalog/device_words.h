// SPDX-License-Identifier: Apache-2.0
// The devices of one machine as people write them: "rtx-4090+2xrtx-3090".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace kvplan {

// One a device, in the order typed. A '+' in a name ("xeon-8480+") is told from one between names
// by the catalog. Throws Error for the first name that is not known. Notes are Catalog::device's.
std::vector<DeviceSpec> devices_named(const Catalog&, std::string_view typed,
                                      std::vector<std::string>* notes = nullptr);

// The words between the '+' signs that stand between names; one where there is no such sign.
std::vector<std::string> device_words(const Catalog&, std::string_view typed);

}  // namespace kvplan
