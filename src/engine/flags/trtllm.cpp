// SPDX-License-Identifier: Apache-2.0
// trtllm-serve and the LLM API: nvidia.github.io/TensorRT-LLM, "trtllm-serve" and "LLM API
// reference" (KvCacheConfig). Nested ones are keys of its --extra_llm_api_options file.
#include <array>

#include "engine/flag_tables.h"

namespace kvplan {
namespace {

using F = EngineFlag;
constexpr std::array kFlags = {
    F{"tp_size", F::integer, "--tensor-parallel-size", "--tp"},
    F{"pp_size", F::integer, "--pipeline-parallel-size", "--pp"},
    F{"ep_size", F::integer, "--moe-expert-parallel-size", "--ep"},
    F{"max_seq_len", F::integer, "", "--max-model-len"},
    F{"kv_cache_free_gpu_memory_fraction", F::number, "--free-gpu-memory-fraction",
      "--utilization"},
    F{"kv_cache_config.free_gpu_memory_fraction", F::number, "", "--utilization"},
    F{"kv_cache_dtype", F::text, "", "--kv"},
    F{"kv_cache_config.dtype", F::text, "", "--kv"},
    F{"kv_cache_config", F::json},
    F{"kv_cache_config.max_tokens", F::integer},
    F{"kv_cache_config.tokens_per_block", F::integer, "--tokens-per-block"},
    F{"kv_cache_config.max_attention_window", F::text},
    F{"kv_cache_config.host_cache_size", F::size},
    F{"kv_cache_config.enable_block_reuse", F::toggle},
    F{"max_batch_size", F::integer},
    F{"max_num_tokens", F::integer},
    F{"max_beam_width", F::integer},
    F{"enable_attention_dp", F::toggle},
    F{"backend", F::choice, "", "", "pytorch tensorrt trt _autodeploy"},
};

}  // namespace

EngineFlags trtllm_flags() {
  return {"trtllm", kFlags, "trust_remote_code grpc",
          "host port tokenizer custom_tokenizer log_level extra_llm_api_options config "
          "reasoning_parser tool_parser served_model_name gpus_per_node cluster_size "
          "num_postprocess_workers revision chat_template"};
}

}  // namespace kvplan
