// SPDX-License-Identifier: Apache-2.0
// Public start-ups of tests/truth asked again: how many come out to the printed digit.
#pragma once
#include <string>
#include <vector>

#include "plan/check.h"

namespace kvplan::test {

// One start whose cache, or whose budget, was asked again.
struct Attempt {
  std::string engine, architecture, source, model;
  std::vector<CheckLine> lines;
  bool chosen = false;  // an input was not logged but fits: the row proves less
  std::string cause;    // given in the row

  bool reproduced() const;  // all lines agree, and there is one
};
std::vector<Attempt> cache_attempts();
std::vector<Attempt> budget_attempts();

// A start that could not be asked again, or did not come out.
struct Unreproduced {
  std::string engine, source, model, logged, cause;
  bool open = false;  // a rule may be at fault
};
std::vector<Unreproduced> unreproduced();

std::string accuracy_page();

}  // namespace kvplan::test
