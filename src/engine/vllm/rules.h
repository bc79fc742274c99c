// SPDX-License-Identifier: Apache-2.0
// What vLLM does differently from version to version. The defaults are those of the first releases
// (V0); rules.cpp changes them row by row.
#pragma once
#include <cstdint>

#include "cost/device.h"
#include "engine/version.h"

namespace kvplan::vllm {

// Attention layers whose page does not divide the largest page.
enum class UnevenPages {
  refused,          // the start fails
  scaled_to_fit,    // as many times the block as fit into the largest page, then padded
  padded,           // the block stays, the page is padded
  packed_by_block,  // no common page: a block holds one group's layers densely
};

// One block of DeepSeek-V4's mixed groups.
enum class MixedBlock {
  padded_tuples,       // every cache page size, as often as the most numerous one, rounded up
  slots_by_page_size,  // per page size the most layers of any group
  largest_group,       // the largest group's own bytes
};

// The line that reports tokens at start-up.
enum class PrintedTokens { blocks_over_groups, concurrency_times_length };
// The line that reports concurrency.
enum class PrintedConcurrency { tokens_over_length, blocks_over_request };

// A figure known to an interval.
struct Range {
  double low = 0, value = 0, high = 0;
};

struct Rules {
  // ---- layout
  bool hybrid_groups = false;  // windows and chunks drop what they no longer need
  bool stores_latent = false;  // before: MLA was cached as heads padded to a width of 256
  UnevenPages uneven_pages = UnevenPages::refused;
  double merge_below = 1.0;  // largest bucket < this x smallest: groups of the largest's size
  MixedBlock mixed_block = MixedBlock::padded_tuples;
  bool request_in_cache_blocks = true;   // mixed groups: request bytes over the cache group's block
  bool kernel_latent_blocks = false;     // pages of latents by the kernel; before: of 64 tokens
  std::int64_t hybrid_latent_grain = 1;  // blocks of latents beside states are a multiple of it
  bool wide_nemotron_states = false;     // of Nemotron-H in 32 bits where its file does not say
  bool exports_states = false;           // kernels keep a state from the middle of a prefill
  // ---- requests
  bool in_flight_batches = false;         // windows keep the tokens of every batch in flight
  bool connectors_follow_groups = false;  // else caches sent elsewhere turn groups off
  bool caches_state_prefixes = false;     // prefix caching by default is for recurrent models too
  bool speculates_on_all_states = false;
  bool aligns_states = false;       // prefix caching keeps recurrent states where a block ends
  bool keeps_mamba_states = false;  // prefix caching keeps Mamba's states of every block
  // ---- printing and refusing
  PrintedTokens printed_tokens = PrintedTokens::blocks_over_groups;
  PrintedConcurrency printed_concurrency = PrintedConcurrency::tokens_over_length;
  bool keeps_null_block = false;    // the start-up check leaves one block out
  bool checks_whole_model = false;  // the check weighs all stages' layers against one stage
  bool checks_own_block = false;    // mixed groups: the check uses the pool's own block
  // ---- budget
  bool samples_in_chunked_profile = false;
  Range sampler_bytes{38.5, 38.5, 38.5};      // per logit at the sampler's peak
  Range non_torch_single, non_torch_several;  // GiB, one rank and several
  // GiB at least, where a vision tower is profiled with its largest images.
  Range vision{0, 1.1, 8.3};
  bool graphs_in_budget = false;
  bool adapts_experts = false;  // LoRA adapters have slots beside routed experts
};

Rules rules_of(Version);

}  // namespace kvplan::vllm
