// SPDX-License-Identifier: Apache-2.0
// Numbers that tutorials on KV caches print, beside what the planner computes for the same case.
#pragma once
#include <string>
#include <vector>

struct PublishedRow {
  int number;
  std::string claim;      // what is said to be computed
  std::string published;  // as printed
  std::string computed;   // by the planner
  std::string right;      // by hand; the derivation stands beside the row
  std::string reason;     // why the two differ, or where the claim comes from
};
// The arithmetic of caches, weights and steps.
std::vector<PublishedRow> published_arithmetic();
// Advice and claims about systems.
std::vector<PublishedRow> published_advice();
