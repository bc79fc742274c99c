// SPDX-License-Identifier: Apache-2.0
// The flags of one llama-server, or of one ollama runner, with every default chosen.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "cost/deployment.h"
#include "engine/engine.h"
#include "engine/llamacpp/rules.h"

namespace kvplan::llamacpp {

struct Serving {
  std::optional<std::int64_t> ctx_size;  // cells asked for; absent: as many as the load needs
  std::optional<std::int64_t> slots;
  std::int64_t default_slots = 1;
  bool streams = false;  // slots have cells of their own unless the cache is unified
  std::optional<bool> unified;
  bool own_streams =
      false;  // even where the cache is unified: as many cells for each (DeepSeek-V4)
  std::int64_t padding = 1;
  std::int64_t batch = 512;  // tokens of one step, the micro-batch
  bool flash = false;
  bool product_apart = true;    // of gate and up in a feed-forward network
  bool full_windows = false;    // --swa-full
  bool caches = true;           // false: diffusion models, whose tokens all change in every step
  bool ollama_windows = false;  // room for every sequence's window and one batch
  LatentCache latent = LatentCache::alone;
  std::int64_t rollback = 0;     // states kept beside the current one, for drafts that fail
  bool drafts_with_mtp = false;  // the draft layers have a cache of their own
  CacheFormats draft;            // its formats
  Bytes margin;                  // left free on each device
  std::string_view margin_source;
};

// `cache` is checked against what the engine can keep.
Serving server_of(const EngineOptions&, const ModelSpec&, const CacheFormats& cache);
Serving ollama_of(const EngineOptions&, const ModelSpec&, const CacheFormats& cache);

// How many cells the caches have.
struct Cells {
  std::int64_t cells = 0, streams = 1;  // per stream
  std::int64_t sequences = 1;
  bool unified = true;
};
// For `batch` sequences of `context` tokens; where ctx_size is set, the load does not matter.
Cells cells_of(const Serving&, Tokens context, std::int64_t batch);
// Of a layer that looks back `window` tokens.
std::int64_t window_cells(const Serving&, const Cells&, Tokens window);

}  // namespace kvplan::llamacpp
