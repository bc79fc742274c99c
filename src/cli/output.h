// SPDX-License-Identifier: Apache-2.0
// Where an answer goes. A file is replaced whole: written beside, then renamed.
#pragma once
#include <string>
#include <string_view>

#include "report/document.h"

namespace kvplan {

// "json", "md"…; throws Error that lists all.
OutputFormat output_format_of(std::string_view name);

}  // namespace kvplan
