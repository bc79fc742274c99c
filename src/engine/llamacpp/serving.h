// SPDX-License-Identifier: Apache-2.0
// The flags of one llama-server with every default chosen, as its argument parser does.
#pragma once
#include <cstdint>
#include <optional>

#include "cost/deployment.h"
#include "engine/engine.h"
#include "engine/llamacpp/rules.h"

namespace kvplan::llamacpp {

struct Serving {
  std::optional<std::int64_t> ctx_size;  // cells asked for; absent: as many as the load needs
  std::optional<std::int64_t> slots;
  std::optional<bool> unified;
  std::int64_t micro_batch = 512;
  bool flash = false;
  bool full_windows = false;     // --swa-full
  std::int64_t rollback = 0;     // states kept beside the current one, for drafts that fail
  bool drafts_with_mtp = false;  // the draft layers have a cache of their own
  CacheFormats draft;            // its formats
  std::int64_t padding = 1;
};

Serving serving_of(const EngineOptions&, const Rules&, const ModelSpec&, const CacheFormats&);

// How many cells the caches have.
struct Cells {
  std::int64_t cells = 0, streams = 1;  // per stream
  std::int64_t sequences = 1;
  bool unified = true;
};
// For `batch` sequences of `context` tokens; where ctx_size is set, the load does not matter.
Cells cells_of(const Serving&, const Rules&, Tokens context, std::int64_t batch);
// Of a layer that looks back `window` tokens.
std::int64_t window_cells(const Serving&, const Cells&, Tokens window);

}  // namespace kvplan::llamacpp
