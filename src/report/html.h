// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace kvplan {

// Text that no browser takes as markup, in an element or in a quoted attribute.
std::string html_escaped(std::string_view);

}  // namespace kvplan
