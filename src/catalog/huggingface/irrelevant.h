// SPDX-License-Identifier: Apache-2.0
// Which configuration keys may go unread.
#pragma once
#include <string_view>

namespace kvplan::huggingface {

// Known to bear neither on memory nor on speed: tokens, training, rotary angles, initialisation,
// generation defaults.
bool is_irrelevant(std::string_view key);
// An unknown key of such a name is refused rather than ignored.
bool sounds_like_memory(std::string_view key);

}  // namespace kvplan::huggingface
