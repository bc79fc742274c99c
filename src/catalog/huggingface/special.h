// SPDX-License-Identifier: Apache-2.0
// Families whose layers are not an ordinary decoder's: one named function each, in a file of its
// subject.
#pragma once
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

// hybrids.cpp: attention in some layers, recurrence in the others
void nemotron_h_layer(Draft&, std::int64_t i, Layer&);
void kimi_linear_layer(Draft&, std::int64_t i, Layer&);
void jamba_layer(Draft&, std::int64_t i, Layer&);
void granite_hybrid_layer(Draft&, std::int64_t i, Layer&);
void lfm2_layer(Draft&, std::int64_t i, Layer&);
void mamba_layer(Draft&, std::int64_t i, Layer&);
// deepseek_v4.cpp
void deepseek_v4_layer(Draft&, std::int64_t i, Layer&);
void finish_deepseek_v4(Draft&);
// gemma4.cpp
void gemma4_layer(Draft&, std::int64_t i, Layer&);
void finish_gemma4(Draft&);
// mllama.cpp
void mllama_layer(Draft&, std::int64_t i, Layer&);
void finish_mllama(Draft&);
// oddities.cpp: small deviations from an ordinary decoder
void falcon_layer(Draft&, std::int64_t i, Layer&);
void nemotron_nas_layer(Draft&, std::int64_t i, Layer&);
void mimo_v2_layer(Draft&, std::int64_t i, Layer&);
void minimax_m3_layer(Draft&, std::int64_t i, Layer&);
void finish_chatglm(Draft&);
void finish_gpt_oss(Draft&);

}  // namespace kvplan::huggingface
