// SPDX-License-Identifier: Apache-2.0
// vLLM's engine arguments: docs.vllm.ai, "Engine Arguments" (vllm/engine/arg_utils.py).
#include <array>

#include "engine/flag_tables.h"

namespace kvplan {
namespace {

using F = EngineFlag;
constexpr std::array kFlags = {
    F{"tensor_parallel_size", F::integer, "-tp", "--tp"},
    F{"pipeline_parallel_size", F::integer, "-pp", "--pp"},
    F{"data_parallel_size", F::integer, "-dp", "--dp"},
    F{"decode_context_parallel_size", F::integer, "-dcp", "--dcp"},
    F{"enable_expert_parallel", F::toggle, "-ep"},
    F{"max_model_len", F::integer, "", "--max-model-len"},
    F{"gpu_memory_utilization", F::number, "", "--utilization"},
    F{"kv_cache_memory_bytes", F::size, "--kv-cache-memory", "--kv-pool"},
    F{"kv_cache_dtype", F::text, "", "--kv"},
    F{"quantization", F::text, "-q", "--weights"},
    F{"max_num_batched_tokens", F::integer},
    F{"max_num_seqs", F::integer},
    F{"block_size", F::integer},
    F{"enable_prefix_caching", F::toggle},
    F{"enable_chunked_prefill", F::toggle},
    F{"async_scheduling", F::toggle},
    F{"enforce_eager", F::toggle},
    F{"disable_hybrid_kv_cache_manager", F::toggle},
    F{"mamba_cache_mode", F::choice, "", "", "none align all"},
    F{"performance_mode", F::choice, "", "", "balanced interactivity throughput"},
    F{"language_model_only", F::toggle},
    F{"skip_mm_profiling", F::toggle},
    F{"speculative_config", F::json, "-sc"},
    F{"speculative_config.method", F::text, "--spec-method"},
    F{"speculative_config.model", F::text, "--spec-model"},
    F{"speculative_config.num_speculative_tokens", F::integer, "--spec-tokens"},
    F{"speculative_config.draft_model_config.hf_config.eagle_aux_hidden_state_layer_ids", F::text},
    F{"speculative_config.draft_model_config.hf_config.num_hidden_layers", F::integer},
    F{"speculative_config.draft_model_config.hf_config.num_key_value_heads", F::integer},
    F{"speculative_config.draft_model_config.hf_config.head_dim", F::integer},
    F{"speculative_config.draft_model_config.hf_config.sliding_window", F::integer},
};

}  // namespace

EngineFlags vllm_flags() {
  return {"vllm", kFlags,
          "trust_remote_code enable_auto_tool_choice disable_log_requests disable_log_stats "
          "enable_log_requests disable_custom_all_reduce enable_sleep_mode "
          "enable_server_load_tracking return_tokens_as_token_ids headless "
          "enable_prompt_tokens_details generation_config_auto enable_chunked_prefill_auto",
          "host port uds api_key served_model_name tokenizer tokenizer_mode revision seed "
          "chat_template chat_template_content_format tool_call_parser reasoning_parser "
          "generation_config override_generation_config download_dir load_format hf_token "
          "distributed_executor_backend uvicorn_log_level allowed_origins root_path "
          "ssl_keyfile ssl_certfile limit_mm_per_prompt tool_parser_plugin "
          "scheduling_policy api_server_count attention_backend swap_space "
          "data_parallel_address data_parallel_rpc_port data_parallel_backend "
          "default_chat_template_kwargs prefix_caching_hash_algo"};
}

}  // namespace kvplan
