// SPDX-License-Identifier: Apache-2.0
// Read from vLLM's public sources and start-up logs; each row names where.
#include "engine/vllm/rules.h"

#include <array>

namespace kvplan::vllm {
namespace {

using Row = Rule<Rules>;

constexpr std::array kRows = {
    Row{"whole-device accounting",
        {0, 0},
        "vllm#10511, vllm#10517",
        [](Rules& r) {
          r.non_torch_single = {0.1, 0.35, 1.8};
          r.non_torch_several = {0.4, 0.6, 3.6};
        }},
    Row{"latent cache for MLA", {0, 7}, "vllm#4650", [](Rules& r) { r.stores_latent = true; }},
    Row{"only this process's share outside PyTorch",
        {0, 7},
        "thirteen public start-up logs of 0.7 to 0.9: 0.01 to 0.12 GiB, on ROCm 0.46 and 0.62",
        [](Rules& r) {
          r.non_torch_single = {0, 0.08, 0.65};
          r.non_torch_several = {0.1, 0.6, 2.2};
        }},
    Row{"V1 profiles the sampler too",
        {0, 8},
        "vllm/v1/worker/gpu_model_runner.py",
        [](Rules& r) { r.samples_in_chunked_profile = true; }},
    Row{"lighter profiling of vision towers",
        {0, 10},
        "sonar#1320, club-3090#1087",
        [](Rules& r) {
          r.vision = {0, 1.1, 2.2};
        }},
    Row{"concurrency of the groups",
        {0, 10},
        "vllm#21348",
        [](Rules& r) { r.printed_concurrency = PrintedConcurrency::blocks_over_request; }},
    Row{"hybrid cache manager, memory measured from a snapshot",
        {0, 10},
        "vllm#21348, vllm#25350; outside PyTorch 0.02 to 0.26 GiB in seven public starts, at TP2 "
        "1.38",
        [](Rules& r) {
          r.hybrid_groups = true;
          r.non_torch_single = {0, 0.12, 0.35};
          r.non_torch_several = {0.1, 0.56, 2.0};
        }},
    Row{"near-equal buckets share one group size",
        {0, 11},
        "vllm/v1/core/kv_cache_utils.py",
        [](Rules& r) { r.merge_below = 1.25; }},
    Row{"LoRA adapters of routed experts",
        {0, 12},
        "vllm#21229",
        [](Rules& r) { r.adapts_experts = true; }},
    Row{"states of every block of a prefix for Mamba 1 and 2",
        {0, 12},
        "vllm#25752; vllm/model_executor/models/config.py of 0.20.2 and 0.26.0",
        [](Rules& r) { r.keeps_mamba_states = true; }},
    Row{"check compares all stages",
        {0, 15},
        "vllm#34076",
        [](Rules& r) { r.checks_whole_model = true; }},
    Row{"a cached state where a block of prefix ends",
        {0, 15},
        "vllm#30877; before, prefix caching was switched off (a public start of 0.13.0)",
        [](Rules& r) { r.aligns_states = true; }},
    Row{"check compares one stage",
        {0, 16},
        "vllm#34076",
        [](Rules& r) { r.checks_whole_model = false; }},
    Row{"sampler without a full sort",
        {0, 16},
        "public start-up logs, fitted",
        [](Rules& r) {
          r.sampler_bytes = {8, 11, 14};
        }},
    Row{"drafters widen the shared group size",
        {0, 20},
        "vllm/v1/core/kv_cache_utils.py",
        [](Rules& r) { r.merge_below = 1.5; }},
    Row{"graphs are estimated inside the budget",
        {0, 20},
        "vllm#38284; the lines of a public start of 0.20.0",
        [](Rules& r) { r.graphs_in_budget = true; }},
    Row{"pages of latents as the kernel wants them",
        {0, 20},
        "vllm/platforms/cuda.py of 0.20.2; of 0.11.2: 64",
        [](Rules& r) { r.kernel_latent_blocks = true; }},
    Row{"states of Nemotron-H in 32 bits",
        {0, 20},
        "vllm/model_executor/models/config.py of 0.20.2; not in that of 0.11.2",
        [](Rules& r) { r.wide_nemotron_states = true; }},
    Row{"tokens printed from concurrency",
        {0, 21},
        "club-3090#104",
        [](Rules& r) { r.printed_tokens = PrintedTokens::concurrency_times_length; }},
    Row{"speculation on every cached state",
        {0, 22},
        "vllm/v1/kv_cache_interface.py",
        [](Rules& r) { r.speculates_on_all_states = true; }},
    Row{"uneven pages scale and pad",
        {0, 22},
        "club-3090 benchmarks (Gemma-4-31B)",
        [](Rules& r) { r.uneven_pages = UnevenPages::scaled_to_fit; }},
    Row{"slots counted by page size",
        {0, 23},
        "vllm#44454",
        [](Rules& r) { r.mixed_block = MixedBlock::slots_by_page_size; }},
    Row{"uneven pages pad",
        {0, 24},
        "vllm/v1/core/kv_cache_utils.py",
        [](Rules& r) { r.uneven_pages = UnevenPages::padded; }},
    Row{"every batch in flight",
        {0, 26},
        "public start-up logs of 0.26.0 and 0.27.1",
        [](Rules& r) { r.in_flight_batches = true; }},
    Row{"connectors that follow groups",
        {0, 26},
        "vllm/config/vllm.py of 0.20.2 and 0.26.0",
        [](Rules& r) { r.connectors_follow_groups = true; }},
    Row{"groups overlay one dense block",
        {0, 27},
        "vllm#48993",
        [](Rules& r) {
          r.mixed_block = MixedBlock::largest_group;
          r.request_in_cache_blocks = false;
          r.checks_own_block = true;
          r.uneven_pages = UnevenPages::packed_by_block;
        }},
    Row{"the null block is not counted as free",
        {0, 27},
        "vllm/v1/core/kv_cache_utils.py",
        [](Rules& r) { r.keeps_null_block = true; }},
    Row{"recurrent states in the prefix cache by default",
        {0, 28},
        "vllm#50991; off in public starts of 0.19.1 to 0.27.1",
        [](Rules& r) {
          r.caches_state_prefixes = true;
          r.keeps_mamba_states = false;
        }},
    Row{"states from the middle of a prefill",
        {0, 33},
        "vllm#57329, open in September 2026; vllm/v1/kv_cache_interface.py of 0.33.0",
        [](Rules& r) { r.exports_states = true; }},
    Row{"pages of latents beside states for every kernel",
        {0, 33},
        "vllm/platforms/interface.py of 0.33.0; not in that of 0.26.0",
        [](Rules& r) { r.hybrid_latent_grain = 128; }},
};

}  // namespace

Rules rules_of(Version version) { return folded<Rules>(kRows, version); }

}  // namespace kvplan::vllm
