// SPDX-License-Identifier: Apache-2.0
// Keys of a config.json that bear on neither memory nor speed, or that only repeat others.
#pragma once
#include <string_view>

namespace kvplan::huggingface {

bool is_irrelevant(std::string_view key);

}  // namespace kvplan::huggingface
