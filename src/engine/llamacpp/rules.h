// SPDX-License-Identifier: Apache-2.0
// What differs between builds of llama.cpp, as one struct that rows of rules fill, oldest first.
#pragma once
#include "engine/version.h"
#include "units.h"

namespace kvplan::llamacpp {

// How a cache holds multi-head latent attention.
enum class LatentCache {
  as_heads,     // keys and values of every head, expanded
  with_values,  // one row of latent + rope as key, the latent once more as value
  alone,        // one row of latent + rope
};

struct Rules {
  // Cells of a cache are a multiple of this.
  std::int64_t padding = 32, padding_with_flash = 256;
  bool windows = false;        // sliding layers keep no more than their window
  bool streams = false;        // slots have cells of their own unless the cache is unified
  bool product_apart = false;  // of gate and up in a feed-forward network: a buffer of its own
  LatentCache latent = LatentCache::as_heads;
  bool output_first = false;         // of the layers that go to a GPU
  bool copies_used_experts = false;  // of those on the host, for a prompt; else all of a layer
};

Rules rules_of(Version build);

}  // namespace kvplan::llamacpp
