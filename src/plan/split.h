// SPDX-License-Identifier: Apache-2.0
// One machine of unequal parts: which split of the model over its GPUs and its host is fastest and
// fits, by an exact search over what llama.cpp's flags can say.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/machine_parts.h"
#include "cost/machine_step.h"
#include "engine/llamacpp/part_lines.h"
#include "plan/setup.h"

namespace kvplan {

struct SplitChoice {
  llamacpp::Split split;
  Assignment where;
  bool fits = false;
};

// The split of least time per step (parts in turn) among those that fit, over -ngl, --n-cpu-moe and
// -nkvo as far as the settings leave them open; layers are dealt to several GPUs as far as each has
// room. The cache goes to the host only where a step gains a tenth. What does not fit at all has
// the split that leaves most on the host.
SplitChoice best_split(const Setup&, const Machine&, const Load&);

// Whether the engine lets its GPUs work on several passes of a prompt at once, and so on.
TurnRules turn_rules(const Setup&, const Machine&, const llamacpp::Split&);

// The same as the engine's own settings, so that a command line can be written.
EngineOptions with_split(EngineOptions, const llamacpp::Split&, std::size_t gpus);

struct PartSummary {
  std::string name;
  std::int64_t layers = 0;  // that run here, the output among them
  std::optional<Bytes> memory, left;
  Bytes used;
};
struct MachineLine {
  std::string part;
  llamacpp::PartLine line;
};
struct MachineRow {
  Tokens context;  // or prompt
  std::int64_t batch = 1;
  bool fits = false;
  MachineTime time;
  // Read and written, experts as tokens choose them uniformly; absent where the law is.
  std::optional<Bytes> gpu_bytes, host_bytes;
  std::string bound_part;  // its name, where a part's memory binds
  Expected expected;       // by the profiles of the parts
};

struct SplitAnswer {
  SplitChoice choice;
  std::int64_t countable = 0;  // layers that -ngl counts
  std::vector<PartSummary> parts;
  std::vector<MachineLine> lines;
  std::optional<Tokens> max_context;  // of one sequence, with this split
};
SplitAnswer split_answer(const Setup&, const Machine&, const Load&, Tokens limit);
// The first load is explained where asked.
std::vector<MachineRow> machine_decode(const Setup&, const Machine&, const SplitChoice&,
                                       std::span<const Load>, Trace* first = nullptr);
std::vector<MachineRow> machine_prefill(const Setup&, const Machine&, const SplitChoice&,
                                        std::span<const Load>, Trace* first = nullptr);

struct NamedPortion : Portion {
  std::string part;
};
// A step's operators, or those of a prompt, on the part that holds their bytes.
std::vector<NamedPortion> machine_breakdown(const Setup&, const Machine&, const SplitChoice&,
                                            const Load&, bool prompt);

}  // namespace kvplan
