// SPDX-License-Identifier: Apache-2.0
// What fills the memory of each part of a machine, line by line: where llama.cpp keeps copies, and
// what else it needs beside weights and caches.
#pragma once
#include <string_view>
#include <vector>

#include "cost/machine.h"
#include "engine/engine.h"
#include "engine/llamacpp/compute.h"
#include "engine/llamacpp/placement.h"
#include "engine/llamacpp/serving.h"

namespace kvplan::llamacpp {

struct PartLine {
  std::size_t part = 0;
  std::string_view what;  // "routed experts", "token table, again as the head"
  BudgetLine bytes;
};

// By the engine's name.
Serving serving_of(const EngineOptions&, const ModelSpec&, const CacheFormats&);

// A server (or an ollama runner) on one machine. The model must outlive it.
class PartAccount {
 public:
  PartAccount(const EngineOptions&, const ModelSpec&, const Deployment&, const Machine&);

  const Serving& serving() const { return serving_; }
  Assignment assigned(const Split&) const;
  // For `batch` sequences of `context` tokens; lines of no bytes are left out.
  std::vector<PartLine> lines(const Assignment&, Tokens context, std::int64_t batch) const;
  // Of all lines of each part.
  std::vector<Bytes> used(const Assignment&, Tokens context, std::int64_t batch) const;
  // Every part has room. A host of unknown size has.
  bool fits(const Assignment&, Tokens context, std::int64_t batch) const;
  // Memory of a GPU that weights and caches cannot have. The first one copies what the host holds,
  // whose largest tensor is `host_matrix`.
  Bytes overhead(std::size_t gpu, Bytes host_matrix, Tokens context, std::int64_t batch) const;

 private:
  std::vector<PartLine> fixed_lines(std::size_t part, Bytes host_matrix, std::int64_t cells) const;

  EngineOptions options_;
  const ModelSpec& model_;
  CacheFormats cache_;
  Machine machine_;
  Serving serving_;
  ComputeBuffer buffer_;
  bool copies_to_gpu_ = true;
};

}  // namespace kvplan::llamacpp
