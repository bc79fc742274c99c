// SPDX-License-Identifier: Apache-2.0
// What somebody who typed an unknown name probably meant.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

// The candidates nearest to `name`, best first, at most `most`; empty when nothing is near. Case
// and the separators ' ', '-', '_' and '.' do not matter.
std::vector<std::string> near_misses(std::string_view name,
                                     const std::vector<std::string>& candidates,
                                     std::size_t most = 3);

// "Did you mean a, b or c?"; empty when nothing is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace kvplan
