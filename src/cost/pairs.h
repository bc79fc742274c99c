// SPDX-License-Identifier: Apache-2.0
// How many query-key pairs causal attention computes over a prompt.
#pragma once
#include "model/cache.h"

namespace kvplan {

// Σ over queries of the entries that each sees: itself and those before it, within window, chunk,
// compression and read limit. A double because it grows with the square of the prompt.
double query_key_pairs(const CacheGroup&, Tokens prompt, Tokens source = Tokens(0));

}  // namespace kvplan
