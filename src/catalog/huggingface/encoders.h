// SPDX-License-Identifier: Apache-2.0
// What decoders with an encoder share: their attention has as many KV heads as heads.
#pragma once
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

Attention all_heads(const Draft&);
// A layer that sees every position at once and keeps nothing.
Layer encoder_layer(const Draft&);
// Queries, keys, values and output of one attention; `cross` looks at the encoder's output.
void add_projection_set(Draft&, Weights&, bool cross, bool biased, bool k_biased);

}  // namespace kvplan::huggingface
