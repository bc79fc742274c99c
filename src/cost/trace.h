// SPDX-License-Identifier: Apache-2.0
// What --explain shows: the same functions note each formula and its operands as they compute.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace kvplan {

struct Trace {
  struct Term {
    std::string formula;  // "weights = Σ rows · bytes per row"
    std::vector<std::pair<std::string, double>> operands;
    double result;
    std::string unit;  // "B", "s", "flop", "tokens"
  };
  std::vector<Term> terms;
  void note(std::string formula, std::initializer_list<std::pair<std::string, double>> operands,
            double result, std::string unit) {
    terms.push_back(
        {std::move(formula), {operands.begin(), operands.end()}, result, std::move(unit)});
  }
};

}  // namespace kvplan
