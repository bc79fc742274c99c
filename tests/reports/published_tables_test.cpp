// SPDX-License-Identifier: Apache-2.0
#include "reports/published_tables.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "golden.h"

namespace {

std::vector<PublishedRow> rows() {
  auto all = published_arithmetic();
  for (PublishedRow& row : published_advice()) all.push_back(std::move(row));
  std::stable_sort(all.begin(), all.end(), [](const PublishedRow& a, const PublishedRow& b) {
    return a.number < b.number;
  });
  return all;
}

std::string page() {
  std::string text =
      "# Published numbers, reproduced and corrected\n\n"
      "Widely read tutorials on KV caches print the numbers of the third column. The fourth is "
      "what "
      "kv-plan computes for the same case.\n"
      "This file is generated from the planner's own functions; a test fails when it is stale, or "
      "when a value differs from the one worked out by hand.\n\n"
      "| # | what | published | right | why |\n|---|---|---|---|---|\n";
  for (const PublishedRow& r : rows())
    text += fmt::format("| {} | {} | {} | {} | {} |\n", r.number, r.claim,
                        r.published.empty() ? "–" : r.published, r.computed, r.reason);
  return text +
         "\nNot arithmetic, and so cited only: groups of 4 to 8 query heads per KV head stay near "
         "MHA's quality (Ainslie et al. 2023).\n"
         "An encoder has no KV cache: with bidirectional attention every key depends on every "
         "token, so nothing can be kept for the next one.\n";
}

}  // namespace

TEST_CASE("every published number comes out as worked out by hand") {
  for (const PublishedRow& row : rows()) {
    CAPTURE(row.number);
    CHECK(row.computed == row.right);
  }
}

TEST_CASE("reports/published-tables.md is what the planner computes") {
  CHECK(generated_difference("reports/published-tables.md", page()) == "");
}
