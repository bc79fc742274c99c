// SPDX-License-Identifier: Apache-2.0
// The buffer for the temporaries of one micro-batch that llama.cpp reserves when it starts.
#pragma once
#include "engine/engine.h"
#include "engine/llamacpp/serving.h"

namespace kvplan::llamacpp {

// What ggml's allocator comes to depends on the order in which it frees: the largest stage of the
// graph, and at most its mask and a few hidden rows more. All in bytes of one micro-batch.
class ComputeBuffer {
 public:
  ComputeBuffer(const ModelSpec&, const Serving&, bool on_host);
  BudgetLine at(std::int64_t cells) const;

 private:
  Bytes head_, products_, attention_;
  Bytes scores_, mask_;  // per cell; with flash attention there are no scores
};

}  // namespace kvplan::llamacpp
