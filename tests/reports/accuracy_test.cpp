// SPDX-License-Identifier: Apache-2.0
#include "reports/accuracy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "golden.h"

using namespace kvplan;
using namespace kvplan::test;

TEST_CASE("every public start that was transcribed is reproduced or has a named cause") {
  for (const Attempt& a : cache_attempts()) {
    CAPTURE(a.engine);
    CAPTURE(a.model);
    CAPTURE(a.source);
    CHECK((a.reproduced() || !a.cause.empty()));
  }
  for (const Attempt& a : budget_attempts()) {
    CAPTURE(a.model);
    CAPTURE(a.source);
    CHECK((a.reproduced() || !a.cause.empty()));
  }
  for (const Unreproduced& u : unreproduced()) CHECK_FALSE(u.cause.empty());
}

// Raise these when more comes out; never lower them.
TEST_CASE("the number of reproduced starts does not fall") {
  std::map<std::string, int> reproduced;
  for (const Attempt& a : cache_attempts()) reproduced[a.engine] += a.reproduced();
  CHECK(reproduced["vllm"] >= 52);
  CHECK(reproduced["sglang"] >= 10);
  CHECK(reproduced["trtllm"] >= 4);
  CHECK(reproduced["llama.cpp"] >= 97);
  int inside = 0;
  for (const Attempt& a : budget_attempts())
    inside +=
        static_cast<int>(std::count_if(a.lines.begin(), a.lines.end(), [](const CheckLine& l) {
          return l.verdict == CheckLine::agrees;
        }));
  CHECK(inside >= 19);
}

TEST_CASE("reports/accuracy.md is what the planner computes") {
  CHECK(generated_difference("reports/accuracy.md", accuracy_page()) == "");
}
