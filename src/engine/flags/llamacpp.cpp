// SPDX-License-Identifier: Apache-2.0
// llama-server: tools/server/README.md of ggml-org/llama.cpp; mla_attn: ikawrakow/ik_llama.cpp.
#include <array>

#include "engine/flag_tables.h"

namespace kvplan {
namespace {

using F = EngineFlag;
constexpr std::array kFlags = {
    F{"ctx_size", F::integer, "-c"},
    F{"parallel", F::integer, "-np"},
    F{"ubatch_size", F::integer, "-ub"},
    F{"batch_size", F::integer, "-b"},
    F{"kv_unified", F::toggle, "-kvu !-no-kvu"},
    F{"swa_full", F::toggle},
    F{"flash_attn", F::tristate, "-fa"},
    F{"cache_type_k", F::text, "-ctk"},
    F{"cache_type_v", F::text, "-ctv"},
    F{"split_mode", F::choice, "-sm", "", "none layer"},
    F{"main_gpu", F::integer, "-mg"},
    F{"tensor_split", F::text, "-ts"},
    F{"n_gpu_layers", F::text, "-ngl --gpu-layers"},
    F{"n_cpu_moe", F::integer, "-ncmoe"},
    F{"cpu_moe", F::toggle, "-cmoe"},
    F{"override_tensor", F::text, "-ot"},
    F{"no_kv_offload", F::toggle, "-nkvo !-kvo !--kv-offload"},
    F{"no_op_offload", F::toggle, "!--op-offload"},
    F{"fit_target", F::integer, "-fitt"},
    F{"mla_attn", F::integer, "-mla"},
    F{"spec_type", F::choice, "", "",
      "none draft-mtp ngram-simple ngram-map-k ngram-map-k4v ngram-mod ngram-cache"},
    F{"spec_draft_n_max", F::integer, "--draft --draft-n --draft-max"},
    F{"spec_draft_type_k", F::text, "-ctkd --cache-type-k-draft"},
    F{"spec_draft_type_v", F::text, "-ctvd --cache-type-v-draft"},
};

}  // namespace

EngineFlags llamacpp_flags() {
  return {"llama.cpp", kFlags,
          "jinja no_jinja mlock no_mmap mmap metrics props slots no_slots log_disable offline v "
          "verbose cont_batching cb no_cont_batching nocb context_shift no_context_shift warmup "
          "no_warmup embedding embeddings rerank reranking no_webui webui perf no_perf "
          "log_prefix log_timestamps check_tensors cache_prompt no_cache_prompt fmoe rtr",
          "host port alias a api_key api_key_file threads t threads_batch tb threads_http seed s "
          "temp temperature top_k top_p min_p repeat_penalty presence_penalty predict n n_predict "
          "timeout to chat_template chat_template_file chat_template_kwargs reasoning_format "
          "reasoning_budget log_file verbosity lv rope_scaling rope_scale rope_freq_base "
          "rope_freq_scale yarn_orig_ctx cache_reuse cache_ram cram ctx_checkpoints ctxcp "
          "slot_save_path hf_token hft prio poll numa samplers"};
}

EngineFlags ollama_flags() {
  static constexpr std::array kOllama = {
      F{"num_ctx", F::integer, "OLLAMA_CONTEXT_LENGTH", "--max-model-len"},
      F{"num_parallel", F::integer, "OLLAMA_NUM_PARALLEL"},
      F{"num_batch", F::integer},
      F{"num_gpu", F::integer},
      F{"flash_attention", F::toggle, "OLLAMA_FLASH_ATTENTION"},
      F{"kv_cache_type", F::text, "OLLAMA_KV_CACHE_TYPE", "--kv"},
      F{"gpu_overhead", F::size, "OLLAMA_GPU_OVERHEAD", "--reserve"},
  };
  return {"ollama", kOllama, "verbose insecure nowordwrap",
          "OLLAMA_HOST OLLAMA_MODELS OLLAMA_KEEP_ALIVE OLLAMA_DEBUG OLLAMA_ORIGINS "
          "OLLAMA_MAX_LOADED_MODELS OLLAMA_MAX_QUEUE keepalive format"};
}

}  // namespace kvplan
