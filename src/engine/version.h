// SPDX-License-Identifier: Apache-2.0
// Engine versions, and version differences as data: rows {name, since, source, apply} are folded,
// oldest first, into a struct of rules, so that no code asks which version it runs.
#pragma once
#include <compare>
#include <span>
#include <string_view>

namespace kvplan {

struct Version {
  int major = 0, minor = 0, patch = 0;
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};

// "0.21", "v0.27.1", "0.11.1rc2", "0.26.1rc1.dev608", "b4567" (a llama.cpp build: its number is the
// major); throws Error on anything else.
Version parse_version(std::string_view text);

template <class Rules>
struct Rule {
  std::string_view name;
  Version since;
  std::string_view source;
  void (*apply)(Rules&);
};

// `rows` in the order of their versions; the rules that `version` follows.
template <class Rules>
Rules folded(std::span<const Rule<Rules>> rows, Version version) {
  Rules rules;
  for (const Rule<Rules>& row : rows)
    if (row.since <= version) row.apply(rules);
  return rules;
}

}  // namespace kvplan
