// SPDX-License-Identifier: Apache-2.0
// Ways to lay a model out over GPUs, each evaluated for a load, and the one to take: the fewest
// GPUs on which the load fits and no asked rate is out of reach, and of those the fastest.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/decode.h"
#include "plan/setup.h"

namespace kvplan {

// A load and the rates that it must reach at its ceiling.
struct Need {
  Load load;
  std::optional<double> tokens_per_second_each, tokens_per_second;
  // No load was asked: layouts are compared by what all the sequences that fit get together.
  bool fill = false;
};

struct LayoutRow {
  enum Verdict {
    chosen,
    slower,        // meets the need, but another of as many GPUs is faster
    more_gpus,     // meets it, with GPUs that are not needed
    across_nodes,  // meets it, but reduces over a slower network at every layer
    no_room,       // weights and buffers leave nothing for a cache
    few_users,     // the cache holds fewer sequences than asked
    too_slow       // even the ceiling is below an asked rate
  };
  Parallelism layout;
  Bytes weights;                            // on the fullest GPU
  Bytes pool;                               // left for the cache; negative: what is missing
  std::optional<std::int64_t> users;        // sequences of the load's length that fit
  std::optional<double> one_user;           // tokens per second of one sequence alone
  std::optional<double> tokens_per_second;  // of the whole load; where filling, of all users
  std::optional<double> tokens_per_second_each;
  std::optional<Bound> bound;  // of that step
  Verdict verdict = no_room;
  std::int64_t batch = 1;          // sequences that were asked for
  std::optional<double> relative;  // its rate against that of the best layout of as many GPUs
  bool own = false;                // the layout that the question came with

  bool meets() const { return verdict <= across_nodes; }
};

// Every layout of `gpus` devices that divides the model: TP x PP x DP, and where replicas can share
// whole experts, that too. llama.cpp and ollama divide by layers alone.
std::vector<Parallelism> layouts_of(const Setup&, std::int64_t gpus);

// One layout for a need, its verdict not yet compared with others. Throws Error where the engine
// refuses it.
LayoutRow evaluate_layout(const Setup&, const Parallelism&, const Need&);

// All layouts of a count, best first, the first one not yet called chosen.
std::vector<LayoutRow> ranked_layouts(const Setup&, const Need&, std::int64_t gpus);

// "--tp 2 --pp 3"; "--tp 1" for one GPU.
std::string options_of(const Parallelism&);

// The best layout on the fewest GPUs that meet the need, at most `most`; empty where none does.
// Requires a device.
std::optional<LayoutRow> fewest_gpus(const Setup&, const Need&, std::int64_t most);

struct LayoutSearch {
  std::optional<LayoutRow> best;  // empty: not even on the most GPUs
  // The best layouts of the chosen count, of its neighbour below and of the asked count.
  std::vector<LayoutRow> rows;
};
// Counts tried: 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64; of a processor or a computer that joins
// no others, none above `also`. `also` is a count to show in any case. Requires a device.
LayoutSearch search_layouts(const Setup&, const Need&, std::optional<std::int64_t> also = {});

}  // namespace kvplan
