// SPDX-License-Identifier: Apache-2.0
// What every lever is given, and how its gain is computed.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cost/decode.h"
#include "plan/levers.h"

namespace kvplan::lever {

struct Ask {
  explicit Ask(const LeverQuestion&);

  const LeverQuestion& q;
  Outcome before;
  Step step;  // of the load, as things are
  bool gguf;  // llama.cpp or ollama runs it

  // "reading the weights binds here".
  std::string what_binds() const;
};

using Levers = std::vector<Lever>;

// The lever that leads from `before` to `after`.
Lever compared(std::string name, std::string how, const Outcome& before, const Outcome& after,
               std::string remark = {});
// Sets `helps` from the gains, and says why where there is none.
void judge(Lever&, const Ask&);

// Asks again with a changed setup or load. Empty, and nothing found, where the engine or the model
// refuses. The pointer is good until the next lever is found.
Lever* attempt(const Ask&, Levers&, std::string name, std::string how, std::string remark,
               const std::function<void(Setup&, Load&)>& change);

// ---- the levers

void weight_formats(const Ask&, Levers&);
void cache_format(const Ask&, Levers&);
void low_bit_activations(const Ask&, Levers&);
void larger_batch(const Ask&, Levers&);
void sequence_slots(const Ask&, Levers&);
void more_memory(const Ask&, Levers&);
void wired_limit(const Ask&, Levers&);
void shared_prefix(const Ask&, Levers&);
void speculation(const Ask&, Levers&);
void other_layouts(const Ask&, Levers&);
void paged_cache(const Ask&, Levers&);
void flash_attention(const Ask&, Levers&);
void grouped_kernels(const Ask&, Levers&);
void graphs(const Ask&, Levers&);
void chunked_prefill(const Ask&, Levers&);
void fewer_heads(const Ask&, Levers&);
void pruning(const Ask&, Levers&);
void adapters(const Ask&, Levers&);

}  // namespace kvplan::lever
