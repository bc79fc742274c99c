// SPDX-License-Identifier: Apache-2.0
// Hidden size, layers, heads, vocabulary and context under all their spellings.
#include <algorithm>

#include "catalog/huggingface/draft.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostVocabulary = std::int64_t{1} << 31;

constexpr std::string_view kLayers[] = {
    "decoder_layers", "num_decoder_layers", "num_blocks", "num_hidden_layers",
    "n_layer",        "n_layers",           "num_layers", "num_transformer_layers"};

// A list of the file's own goes before a count that only its class brings.
std::int64_t layer_count(const Draft& d) {
  const auto says = [&](std::string_view name) {
    const Node* value = d.keys.node().find(name);
    return value && value->kind != Node::null;
  };
  const bool counted = std::any_of(std::begin(kLayers), std::end(kLayers), says);
  for (const std::string_view list : {"layers_block_type", "block_configs", "layer_types"}) {
    const std::int64_t n = counted || !says(list) ? 0 : d.keys.length({list});
    if (n > kMostLayers) d.keys.refuse({list}, "more than 10,000 layers");
    if (n > 0) return n;
  }
  if (!counted && says("hybrid_override_pattern"))  // a letter a layer
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(d.keys.text({"hybrid_override_pattern"}).size()), 1, kMostLayers);
  const auto said = d.keys.integer(kLayers, 1, kMostLayers);
  return said ? *said : d.keys.count({"num_hidden_layers"});
}

// Falcon and StarCoder say "one KV head" by a flag; a new-style Falcon has num_kv_heads, which then
// wins.
std::int64_t kv_head_count(const Draft& d) {
  const Keys& k = d.keys;
  const bool one = k.flag({"multi_query"}) && !k.flag({"new_decoder_architecture"});
  const auto groups = k.integer({"multi_query_group_num"}, 1);
  const auto counted = k.integer(
      {"num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv", "num_attention_groups"},
      1);
  const auto nested = k.if_inside({"attn_config"});  // MPT, DBRX
  if (one || (nested && nested->text({"attn_type"}) == "multiquery_attention")) return 1;
  // StarCoder says it by the flag alone, whatever was saved beside it.
  if (k.has({"multi_query"}) && has_word(d.family.types, "gpt_bigcode")) return d.heads;
  if (groups && k.flag({"multi_query_attention"})) return *groups;
  if (counted) return *counted;
  if (nested)
    if (const auto n = nested->integer({"kv_n_heads"}, 1)) return *n;
  return d.heads;
}

std::int64_t head_width(const Draft& d, bool latent) {
  const Keys& k = d.keys;
  constexpr std::string_view kWidth[] = {"head_dim", "attention_head_dim", "kv_channels", "d_kv"};
  if (const auto width = k.integer(kWidth, latent ? 0 : 1)) return *width;
  if (d.hidden % d.heads == 0) return d.hidden / d.heads;
  if (latent) return 0;
  throw Error("hidden_size " + std::to_string(d.hidden) + " is not a multiple of " +
              std::to_string(d.heads) + " heads")
      .of("head_dim")
      .advise("Give head_dim in the configuration.");
}

constexpr std::string_view kHeads[] = {
    "num_attention_heads",     "n_head",         "n_heads", "num_heads",
    "decoder_attention_heads", "attention_heads"};

void read_heads(Draft& d) {
  const Keys& k = d.keys;
  d.heads = k.count(kHeads);
  d.kv_heads = kv_head_count(d);
  const bool latent = k.has({"kv_lora_rank"});
  if (!latent && d.heads % d.kv_heads != 0)
    k.refuse({"num_key_value_heads", "num_kv_heads", "multi_query_group_num"},
             std::to_string(d.heads) + " attention heads are not a multiple of " +
                 std::to_string(d.kv_heads) + " KV heads");
  d.head_dim = head_width(d, latent);
}

// Spellings of one number must not differ.
void require_agreement(const Keys& k, Names names) {
  std::optional<std::int64_t> first;
  for (const std::string_view name : names) {
    const auto n = k.integer({name}, 1);
    if (n && first && *n != *first)
      k.refuse({name}, std::to_string(*n) + " contradicts " + std::to_string(*first) +
                           ", which another key says for the same number");
    if (!first) first = n;
  }
}

// Layers named by their index exist.
void check_layer_lists(const Draft& d) {
  for (const std::string_view name : {"cross_attention_layers", "mlp_only_layers", "moe_layers",
                                      "attn_layer_indices", "full_attn_idxs"}) {
    const Node* list = d.keys.node().find(name);
    if (!list || list->kind != Node::list) continue;
    for (const std::int64_t i : d.keys.integers({name}))
      if (i >= d.layers)
        d.keys.refuse({name}, "there is no layer " + std::to_string(i) + " among " +
                                  std::to_string(d.layers));
  }
}

// A list may go on with the layers of multi-token prediction, and no further.
void check_layer_types(const Draft& d) {
  const auto mtp = d.keys.integer({"num_nextn_predict_layers", "mtp_num_hidden_layers"});
  for (const std::string_view list : {"layer_types", "layers_block_type", "mlp_layer_types"}) {
    const std::int64_t given = d.keys.length({list});
    if (given > checked_add(d.layers, mtp.value_or(0)))
      d.keys.refuse({list}, "the list has " + std::to_string(given) + " entries for " +
                                std::to_string(d.layers) + " layers");
  }
}

constexpr std::string_view kHidden[] = {"hidden_size", "n_embd",    "n_embed",
                                        "d_model",     "model_dim", "embedding_dim"};
constexpr std::string_view kInner[] = {
    "intermediate_size", "ff_intermediate_size", "block_ff_dim", "n_inner",
    "ffn_dim",           "ffn_hidden_size",      "d_ff",         "decoder_ffn_dim"};

// Where nothing says how wide a feed-forward is, one without a gate is four times as wide as the
// model; a gated one has a width of its own. Families with layers of their own read theirs.
bool four_times_is_usual(const Draft& d) {
  const bool experts_only = d.keys.has({"moe_intermediate_size", "expert_ffn_hidden_size"});
  return !d.family.gated || d.family.layer || d.family.widths || experts_only ||
         d.keys.has({"ffn_config"});
}

}  // namespace

void read_widths(Draft& d) {
  const Keys& k = d.keys;
  require_agreement(k, kHidden);
  require_agreement(k, {"num_hidden_layers", "n_layer", "n_layers"});
  require_agreement(k, {"num_attention_heads", "n_head", "n_heads"});
  d.hidden = k.count(kHidden);
  d.layers = layer_count(d);
  check_layer_lists(d);
  check_layer_types(d);
  // A model of Mamba layers only has no heads.
  if (k.has({"num_query_heads"})) {  // OpenELM: a number for each layer, which reads its own
    d.heads = k.entry_integer({"num_query_heads"}, 0).value_or(0);
    d.kv_heads = k.entry_integer({"num_kv_heads"}, 0).value_or(0);
    d.head_dim = k.count({"head_dim"});
  } else if (k.has(kHeads) || !k.has({"state_size"})) {
    read_heads(d);
  }
  const std::int64_t ratio = k.integer({"expansion_ratio"}, 1, 1024).value_or(4);
  const Node* inner = k.find(kInner);
  if (inner && inner->kind == Node::list)
    d.inner = k.entry_integer(kInner, 0).value_or(0);  // one a layer: the layer reads its own
  else
    d.inner = k.integer(kInner).value_or(four_times_is_usual(d) ? ratio * d.hidden : 0);
  if (!inner && d.inner == 0) k.required(kInner);
  d.inner /= d.family.inner_divisor;
  const auto vocabulary = k.integer({"vocab_size", "padded_vocab_size"}, 1, kMostVocabulary);
  d.vocabulary = vocabulary ? *vocabulary : d.top.count({"vocab_size"}, kMostVocabulary);
  if (const auto context = k.integer(
          {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length",
           "max_sequence_length", "model_max_length", "max_target_positions", "max_context_length"},
          1, Keys::kMostTokens))
    d.model.max_context = Tokens(*context);
  d.model.hidden = d.hidden;
  d.model.vocabulary = d.vocabulary;
}

}  // namespace kvplan::huggingface
