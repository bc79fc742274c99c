// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/understood.h"

#include <algorithm>

#include "catalog/huggingface/unread.h"

namespace kvplan::gguf {
namespace {

constexpr Rename kRenamed[] = {
    {"embedding_length", "hidden_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.output_lora_rank", "o_lora_rank", "deepseek_v4"},
    {"attention.output_group_count", "o_groups", "deepseek_v4"},
    {"attention.indexer.head_count", "index_n_heads"},
    {"attention.indexer.key_length", "index_head_dim"},
    {"attention.indexer.top_k", "index_topk"},
    {"attention.shared_kv_layers", "num_kv_shared_layers", "gemma4"},
    {"shortconv.l_cache", "conv_L_cache", "lfm2"},
    {"nextn_predict_layers", "num_nextn_predict_layers"},
};

// They bear on weights alone.
constexpr std::string_view kCounted[] = {
    "expert_feed_forward_length",
    "expert_shared_feed_forward_length",
    "expert_chunk_feed_forward_length",
    "expert_shared_count",
    "expert_group_count",
    "expert_group_used_count",
    "experts_per_group",
    "leading_dense_block_count",
    "interleave_moe_layer_step",
    "moe_every_n_layers",
    "moe_latent_size",
    "expert_latent_length",
    "embedding_length_per_layer_input",
    "embedding_length_out",
    "n_deepstack_layers",
    "deepstack_mapping",
    "hash_layer_count",
    "hyper_connection.count",
    "hyper_connection.sinkhorn_iterations",
    "rescale_every_n_layers",
    "attn_res.block_size",
    "kda.safe_gate",
    "kda.gate_lower_bound",
    "attn_res.block_size",
    "kda.safe_gate",
    "kda.gate_lower_bound",
    "hyper_connection.magnitude",
    "attention.relative_buckets_count",
    "swin_norm",
    "ssm.dt_b_c_rms",
    "time_mix_extra_dim",
    "time_decay_extra_dim",
    "attention.decay_lora_rank",
    "attention.iclr_lora_rank",
    "attention.value_residual_mix_lora_rank",
    "attention.gate_lora_rank",
};

// Parts of names that bear neither on memory nor on speed; parts that do, beside those of Hugging
// Face's keys.
constexpr std::string_view kHarmless[] = {
    "rope.",    "norm",  "scale",      "logit",     "epsilon", "temperature",
    "clamp",    "alibi", "activation", "gating",    "pooling", "layout",
    "residual", "xielu", "token_id",   "freq_base", "altup"};
constexpr std::string_view kMemory[] = {"count", "length", "size", "ssm", "kda", "lora"};

template <class Range>
bool contains_any(std::string_view key, const Range& parts) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return key.find(part) != key.npos; });
}

}  // namespace

std::span<const Rename> renamed_keys() { return kRenamed; }

bool is_irrelevant(std::string_view key) {
  return std::find(std::begin(kCounted), std::end(kCounted), key) != std::end(kCounted) ||
         contains_any(key, kHarmless);
}

void account_for(const std::vector<std::string>& unread, const std::string& architecture,
                 std::vector<Warning>& warnings) {
  for (const std::string& key : unread) {
    if (is_irrelevant(key)) continue;
    if (contains_any(key, kMemory) || huggingface::sounds_like_memory(key))
      throw Error("architecture '" + architecture +
                  "' has a key that may bear on memory and that kv-plan does not understand")
          .of(architecture + "." + key)
          .advise("Use the model's config.json, or a newer kv-plan.");
    warnings.push_back({"unread-key", "key '" + architecture + "." + key + "' was not used"});
  }
}

}  // namespace kvplan::gguf
