// SPDX-License-Identifier: Apache-2.0
// Judges names of keys that no reader knows.
#pragma once
#include <string_view>

namespace kvplan::huggingface {

// An unknown key of such a name is refused rather than ignored.
bool sounds_like_memory(std::string_view key);

}  // namespace kvplan::huggingface
