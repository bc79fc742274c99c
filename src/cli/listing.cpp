// SPDX-License-Identifier: Apache-2.0
#include "cli/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/names.h"

namespace kvplan {
namespace {

// Whether a name has the filter where one of its words begins: "4090" in "RTX 4090", not "m1" in
// "SXM 141GB".
bool has_at_word(std::string_view name, const std::string& filter) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || name[i - 1] == ' ' || name[i - 1] == '-' || name[i - 1] == '/';
    if (begins && normalized(name.substr(i)).starts_with(filter)) return true;
  }
  return false;
}

}  // namespace

bool wanted(const Request& request, const CatalogEntry& entry) {
  if (!request.filter) return true;
  const std::string filter = normalized(*request.filter);
  return has_at_word(entry.name, filter) ||
         std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& alias) { return has_at_word(alias, filter); });
}

void need_named(const Request& request, std::size_t named, std::string_view what) {
  if (named == 0 && request.filter)
    throw Error(fmt::format("no {} has '{}' in its name", what, *request.filter))
        .of("FILTER")
        .advise(fmt::format("`kv-plan {}s` lists all.", what));
}

}  // namespace kvplan
