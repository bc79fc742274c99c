// SPDX-License-Identifier: Apache-2.0
// What the kernels that vLLM picks for a GPU ask of pages and states. vllm/platforms/cuda.py and
// the attention backends of 0.20 to 0.33.
#pragma once
#include <cstdint>
#include <optional>

#include "cost/device.h"
#include "model/cache.h"

namespace kvplan::vllm {

// GPUs by compute capability: below 9, 9.x, 10.x, 12.x. Where no device is named: Hopper.
enum class Gpu { older, hopper, blackwell, small_blackwell };
Gpu gpu_of(const std::optional<DeviceSpec>&);

// Tokens of a page of latents: FlashAttention and Triton take 16, FlashInfer 32, FlashMLA 64.
std::int64_t latent_block(Gpu, bool sparse, bool eight_bits);

// Whether the kernel of a recurrent layer hands out a state from the middle of a prefill, so that
// one state more is kept while a prefix is cached.
bool exports_states(const Recurrent&, Gpu);
// Tokens that the blocks of such layers are a multiple of.
std::int64_t export_grain(const Recurrent&);

}  // namespace kvplan::vllm
