// SPDX-License-Identifier: Apache-2.0
// What the lists of the catalog have in common: their FILTER.
#pragma once
#include <cstddef>
#include <string_view>

#include "catalog/catalog.h"
#include "cli/request.h"

namespace kvplan {

// Whether the filter, where one was typed, begins a word of the entry's name or of an alias.
bool wanted(const Request&, const CatalogEntry&);
// Throws Error where the filter named none; `what` is "model" or "device".
void need_named(const Request&, std::size_t named, std::string_view what);

}  // namespace kvplan
