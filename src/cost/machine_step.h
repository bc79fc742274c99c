// SPDX-License-Identifier: Apache-2.0
// How fast a machine of several parts can be: a ceiling in which all parts work at once, and the
// law of an engine that runs them in turn (ggml-org/llama.cpp: one graph, split by backend).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/machine.h"
#include "cost/stage.h"
#include "cost/trace.h"

namespace kvplan {

// What bears on the law beside the assignment.
struct TurnRules {
  std::int64_t pass_tokens = 512;  // of a prompt that pass the layers at once
  // Passes of at least so many tokens copy the host's matrices to the first GPU and multiply there.
  // Absent: the host multiplies what it holds.
  std::optional<std::int64_t> copies_from = 32;
  bool copies_used_experts = true;  // else all experts of a layer
  bool overlaps_passes = false;     // GPUs work on several passes of a prompt side by side
};

struct PartTime {
  Bytes weights, cache;  // read, and written
  Seconds seconds;       // of its turns, copies included
};

struct MachineTime {
  // No correct engine that keeps the bytes on these parts is faster. Absent: a datasheet lacks what
  // is needed.
  std::optional<Seconds> ceiling;
  Bound bound = Bound::bandwidth;
  std::size_t bound_part = 0;      // meaningful for bandwidth and host
  std::optional<Seconds> in_turn;  // parts one after the other, at their peak rates
  Seconds links;                   // of these: activations and logits on their way
  Bytes copied;                    // host weights sent to a GPU
  std::vector<PartTime> parts;     // of the law
  double flops = 0;
};

class MachineModel {
 public:
  MachineModel(const ModelSpec&, const Deployment&, const Machine&, const Assignment&, TurnRules);

  // One token for each of `batch` sequences that hold `context` tokens.
  MachineTime step(Tokens context, std::int64_t batch, Trace* = nullptr) const;
  // The first token after `batch` prompts.
  MachineTime prompt(Tokens prompt, std::int64_t batch, Trace* = nullptr) const;

 private:
  struct Load;
  struct Turn {
    Bytes weights, cache, copied;
    Seconds seconds;
  };
  MachineTime ceiling(const Load&, Trace*) const;
  Turn turn(std::size_t part, const Load&, std::int64_t tokens, std::int64_t heads) const;
  Seconds crossing(const Load&) const;
  bool can_multiply(std::size_t part, const Load&) const;
  void take_turns(const Load&, MachineTime&, Trace*) const;

  Machine machine_;
  TurnRules rules_;
  Tokens prefix_, source_;
  std::int64_t hidden_ = 0, vocabulary_ = 0;
  std::size_t output_ = 0;
  std::vector<RankTerms> terms_;
  std::vector<std::int64_t> crossings_;
};

}  // namespace kvplan
