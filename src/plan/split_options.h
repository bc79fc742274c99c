// SPDX-License-Identifier: Apache-2.0
// The same machine asked again: with other weight formats, and with one thing changed.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/split.h"

namespace kvplan {

// What a machine comes to with its best split, parts in turn.
struct SplitOutcome {
  bool fits = false;
  std::int64_t gpu_layers = 0, cpu_moe = 0;
  std::optional<double> decode, prefill;  // tokens per second
};
SplitOutcome split_outcome(const Setup&, const Machine&, const Load&);

struct SplitRung {
  std::string recipe;
  Bytes weights;
  SplitOutcome outcome;
};
// `setup.model` as the reader gave it, before any recipe.
std::vector<SplitRung> split_ladder(const Setup&, const Machine&, const Load&,
                                    std::span<const std::string_view> recipes);

struct SplitLever {
  std::string name, how;  // the option or change that does it
  SplitOutcome outcome;
  double decode_gain = 1, prefill_gain = 1;  // after / before
};
// Those that gain a tenth in decode or prefill, or make the load fit; best first.
std::vector<SplitLever> split_levers(const Setup&, const Machine&, const Load&);

}  // namespace kvplan
