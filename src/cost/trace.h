// SPDX-License-Identifier: Apache-2.0
// What --explain shows: the same functions note each formula and its operands as they compute.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvplan {

struct Trace {
  struct Operand {
    std::string name;
    double value;
    std::string_view unit;  // "B", "s", "flop", "tokens"; empty for a plain count
  };
  struct Term {
    std::string formula;  // "weights = matrices + rows of tables"
    std::vector<Operand> operands;
    double result;
    std::string_view unit;
  };
  std::vector<Term> terms;

  void note(std::string formula, std::initializer_list<Operand> operands, double result,
            std::string_view unit) {
    terms.push_back({std::move(formula), operands, result, unit});
  }
};

}  // namespace kvplan
