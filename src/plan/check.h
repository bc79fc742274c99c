// SPDX-License-Identifier: Apache-2.0
// What an engine printed at start-up against what it should have printed, line by line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/start_log.h"
#include "plan/setup.h"

namespace kvplan {

using Amount = std::variant<Bytes, Tokens, std::int64_t, double>;  // double: a ratio

// The line about the weights of llama.cpp's fullest device.
constexpr std::string_view kWeightBuffer = "weights, fullest device";

struct CheckLine {
  enum Verdict {
    agrees,         // the logged amount lies in the prediction, within the rounding of its print
    differs,        //
    not_predicted,  // an input is missing
  } verdict = not_predicted;
  std::string what;
  std::int64_t line = 0;  // of the log
  Amount logged;
  std::optional<Amount> predicted, low, high;  // low and high: where it is known to an interval
  std::string reason;                          // why it differs, or what it was predicted from

  // predicted - logged, in the unit of both.
  std::optional<double> difference() const;
};

// What no line of the log says and which option of kv-plan says it.
struct Missing {
  std::string what, option;
};

struct Check {
  std::vector<CheckLine> lines;
  std::vector<Missing> missing;

  bool agrees() const;
};

// Lines that the log has; those about memory need Setup::device, or its size in the log.
Check check(const Setup&, const StartLog&);

// Of the memory for the cache on one GPU: what was logged, or what follows from the log.
struct Pool {
  Bytes low, value, high;
  std::string from;  // "the logged cache memory"
};
std::optional<Pool> pool_of(const Setup&, const Engine&, const StartLog&);

// Of the device that holds most; host memory does not count.
std::optional<Printed<Bytes>> fullest(const std::map<std::string, Printed<Bytes>>& buffers);

// Lines about the cache, and about the memory around it.
std::vector<CheckLine> cache_lines(const Setup&, const StartLog&);
std::vector<CheckLine> budget_lines(const Setup&, const StartLog&);

// A change of the inputs under which every cache line agrees, as options; empty: none was found.
std::string cause_of(const Setup&, const StartLog&);
// Sizes of a step under which the budget line `what` agrees, as options; empty: none.
std::string sizes_of(const Setup&, const StartLog&, std::string_view what);

}  // namespace kvplan
