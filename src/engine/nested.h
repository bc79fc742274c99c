// SPDX-License-Identifier: Apache-2.0
// Flags whose value is a JSON object, as settings with dots: {"method":"mtp"} of
// speculative_config is speculative_config.method = mtp. Lists of scalars are words with commas.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace kvplan {

// Throws Error where the text is not a JSON object or nests too deep.
std::map<std::string, std::string> settings_of_json(std::string_view name, std::string_view json);
// The object back again, of settings without the flag's own name in front.
std::string json_of_settings(const std::map<std::string, std::string>&);

}  // namespace kvplan
