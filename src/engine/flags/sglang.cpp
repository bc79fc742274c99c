// SPDX-License-Identifier: Apache-2.0
// SGLang's server arguments: docs.sglang.io, "Server Arguments" (sglang/srt/server_args.py).
#include <array>

#include "engine/flag_tables.h"

namespace kvplan {
namespace {

using F = EngineFlag;
constexpr std::array kFlags = {
    F{"tp_size", F::integer, "--tp --tensor-parallel-size", "--tp"},
    F{"pp_size", F::integer, "--pp --pipeline-parallel-size", "--pp"},
    F{"dp_size", F::integer, "--dp --data-parallel-size", "--dp"},
    F{"ep_size", F::integer, "--ep --expert-parallel-size", "--ep"},
    F{"context_length", F::integer, "", "--max-model-len"},
    F{"mem_fraction_static", F::number, "", "--utilization"},
    F{"kv_cache_dtype", F::text, "", "--kv"},
    F{"quantization", F::text, "", "--weights"},
    F{"max_total_tokens", F::integer},
    F{"max_running_requests", F::integer},
    F{"page_size", F::integer},
    F{"chunked_prefill_size", F::integer},
    F{"cuda_graph_max_bs", F::integer},
    F{"disable_cuda_graph", F::toggle},
    F{"enable_piecewise_cuda_graph", F::toggle},
    F{"piecewise_cuda_graph_max_tokens", F::integer},
    F{"disable_radix_cache", F::toggle},
    F{"enable_dp_attention", F::toggle},
    F{"attention_backend", F::text},
    F{"swa_full_tokens_ratio", F::number},
    F{"disable_hybrid_swa_memory", F::toggle},
    F{"mamba_full_memory_ratio", F::number},
    F{"max_mamba_cache_size", F::integer},
    F{"mamba_ssm_dtype", F::choice, "", "", "float32 bfloat16 float16"},
    F{"mamba_scheduler_strategy", F::choice, "", "", "auto no_buffer extra_buffer"},
    F{"speculative_algorithm", F::choice, "--speculative-algo", "",
      "EAGLE EAGLE3 NEXTN STANDALONE NGRAM DFLASH"},
    F{"speculative_draft_model_path", F::text, "--speculative-draft-model"},
    F{"speculative_num_steps", F::integer},
    F{"speculative_eagle_topk", F::integer},
    F{"speculative_num_draft_tokens", F::integer},
};

}  // namespace

EngineFlags sglang_flags() {
  return {"sglang", kFlags,
          "trust_remote_code log_requests enable_metrics skip_server_warmup "
          "enable_torch_compile enable_mixed_chunk disable_overlap_schedule "
          "disable_custom_all_reduce enable_p2p_check show_time_cost enable_cache_report "
          "enable_multimodal skip_tokenizer_init",
          "host port api_key served_model_name tokenizer_path tokenizer_mode revision "
          "random_seed chat_template tool_call_parser reasoning_parser log_level load_format "
          "download_dir schedule_policy schedule_conservativeness stream_interval "
          "watchdog_timeout nccl_port dist_init_addr nnodes node_rank base_gpu_id "
          "sampling_backend grammar_backend moe_runner_backend moe_a2a_backend config"};
}

}  // namespace kvplan
