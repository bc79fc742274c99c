// SPDX-License-Identifier: Apache-2.0
// Families against the modules that huggingface/transformers builds
// (tests/truth/architectures.yaml) and what their layers keep, derived by hand.
#include <doctest/doctest.h>

#include <string>

#include "catalog/files.h"
#include "catalog/huggingface.h"
#include "model/cache.h"
#include "model/parameters.h"

using namespace kvplan;

namespace {

ModelSpec read(const std::string& yaml) { return read_huggingface(parse_yaml(yaml)); }

std::int64_t bytes_of(const ModelSpec& model, CacheGroup::Kind kind) {
  std::int64_t sum = 0;
  for (const CacheGroup& g : cache_groups(model, cache_formats("bf16")))
    if (g.kind == kind)
      sum += kind == CacheGroup::state
                 ? state_bytes(g).n * static_cast<std::int64_t>(g.layers.size())
                 : static_cast<std::int64_t>(bytes_per_token(g));
  return sum;
}

}  // namespace

TEST_CASE("families have the parameters of the modules that their code builds") {
  const Node file = read_tree(KVPLAN_SOURCE_DIR "/tests/truth/architectures.yaml");
  for (const std::string_view part : {"architectures", "multimodal", "encoder_decoders", "later"})
    for (const Node& row : file.find(part)->items) {
      const Node& config = *row.find("config");
      CAPTURE(config.find("model_type")->text);
      const ModelSpec model = read_huggingface(config);
      const Parameters p = count_parameters(model);
      CHECK(p.total + p.encoders_apart == *row.find("total")->integer());
      for (const Warning& w : model.warnings)
        for (const char* code : {"unknown-model-type", "vision-not-counted", "audio-not-counted"})
          CHECK(w.code != code);
    }
}

// MiniMaxAI/MiniMax-Text-01: 80 layers, every eighth with softmax attention of 8 KV heads of 128;
// the others keep 64 matrices of 128 x 128 in fp32.
TEST_CASE("lightning attention keeps a matrix a head and no rows") {
  std::string types;
  for (int i = 0; i < 80; ++i) types += i % 8 == 7 ? ", 1" : ", 0";
  const ModelSpec model = read(
      "{model_type: minimax_text_01, hidden_size: 6144, num_hidden_layers: 80, "
      "num_attention_heads: 64, num_key_value_heads: 8, head_dim: 128, intermediate_size: 9216, "
      "vocab_size: 200064, num_local_experts: 32, num_experts_per_tok: 2, "
      "shared_intermediate_size: 0, postnorm: true, attn_type_list: [" +
      types.substr(2) + "]}");
  CHECK(bytes_of(model, CacheGroup::full) == 10 * 2 * 8 * 128 * 2);
  CHECK(bytes_of(model, CacheGroup::state) == 70LL * 64 * 128 * 128 * 4);
  // The report's 456 B: 2 x 200,064 x 6,144 + 6,144 of ends; 80 x (3 x 32 x 6,144 x 9,216 + 32 x
  // 6,144 + 2 x 6,144) of experts and norms; 10 x (2 x 8,192 + 2 x 1,024) x 6,144 of attention;
  // 70 x (5 x 8,192 x 6,144 + 8,192) of lightning attention.
  CHECK(count_parameters(model).total == 456'089'655'296);
}

// stepfun-ai/step3: one KV head of 256 in 61 layers; queries from rows of 2,048.
TEST_CASE("Step 3 keeps one head of keys and values a layer") {
  const ModelSpec model = read(
      "{model_type: step3_text, hidden_size: 7168, intermediate_size: 18432, "
      "num_attention_heads: 64, num_attention_groups: 1, num_hidden_layers: 61, vocab_size: "
      "128815, "
      "moe_intermediate_size: 5120, moe_num_experts: 48, moe_top_k: 3, share_expert_dim: 5120, "
      "share_q_dim: 2048, head_dim: 256, norm_expert_weight: false, moe_layers_enum: '4,5,6,7,8,9,"
      "10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,"
      "40,"
      "41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59'}");
  CHECK(bytes_of(model, CacheGroup::full) == 61 * 2 * 256 * 2);
  // The report's 316 B of text: 2 x 128,815 x 7,168 + 7,168; 61 x (2,048 x 7,168 + 2,048 +
  // 16,384 x 2,048 + 2 x 256 x 7,168 + 7,168 x 16,384 + 2 x 7,168); 5 x 3 x 7,168 x 18,432;
  // 56 x (49 x 3 x 7,168 x 5,120 + 48 x 7,168).
  CHECK(count_parameters(model).total == 316'294'538'240);
}

// RecurrentGemma-2B's shape: windows of 2,048 in every third layer (one KV head of 256), fp32
// states of 2,560 and three rows of its convolution in the others.
TEST_CASE("RG-LRU keeps a vector, a few rows and a window") {
  const ModelSpec model = read(
      "{model_type: recurrent_gemma, hidden_size: 2560, num_hidden_layers: 26, "
      "num_attention_heads: 10, num_key_value_heads: 1, head_dim: 256, intermediate_size: 15360, "
      "lru_width: 2560, attention_window_size: 2048, vocab_size: 256000}");
  CHECK(bytes_of(model, CacheGroup::full) == 0);
  CHECK(bytes_of(model, CacheGroup::window) == 8 * 2 * 256 * 2);
  CHECK(bytes_of(model, CacheGroup::state) == 18 * (2560 * 4 + 3 * 2560 * 2));
  CHECK(count_parameters(model).total == 2'682'862'080);
}

// RWKV-4: numerator, denominator and maximum in fp32, two rows of the last inputs.
TEST_CASE("RWKV keeps states only") {
  const ModelSpec model =
      read("{model_type: rwkv, hidden_size: 4096, num_hidden_layers: 32, vocab_size: 50277}");
  CHECK(bytes_of(model, CacheGroup::full) == 0);
  CHECK(bytes_of(model, CacheGroup::state) == 32 * (3 * 4096 * 4 + 2 * 4096 * 2));
}

// LongCat-Flash: each of its 28 layers attends twice, over latents of 512 + 64.
TEST_CASE("a layer of LongCat-Flash keeps latents twice, and an idle expert weighs nothing") {
  const auto total = [](const std::string& idle) {
    return read(
        "{model_type: longcat_flash, hidden_size: 6144, num_layers: 28, num_attention_heads: 64, "
        "ffn_hidden_size: 12288, expert_ffn_hidden_size: 2048, q_lora_rank: 1536, "
        "kv_lora_rank: 512, qk_nope_head_dim: 128, qk_rope_head_dim: 64, v_head_dim: 128, "
        "moe_topk: 12, n_routed_experts: 512, vocab_size: 131072, zero_expert_num: " +
        idle + "}");
  };
  CHECK(bytes_of(total("256"), CacheGroup::latent) == 56 * 576 * 2);
  CHECK(count_parameters(total("256")).total - count_parameters(total("0")).total ==
        28LL * 256 * (6144 + 1));
}

// xai-org/grok-2, "270B": 64 layers of 8 experts of 16,384 and a dense feed-forward of 32,768; its
// model_type is another model's name. 2 x 131,072 x 8,192 + 8,192 + 64 x (2 x 8,192^2 + 2 x 8,192 x
// 1,024 + 8 x 3 x 8,192 x 16,384 + 8 x 8,192 + 3 x 8,192 x 32,768 + 4 x 8,192).
TEST_CASE("the modelling class tells the family where the model_type does not") {
  const ModelSpec grok = read(
      "{architectures: [Grok1ForCausalLM], model_type: git, hidden_size: 8192, "
      "num_hidden_layers: 64, num_attention_heads: 64, num_key_value_heads: 8, head_dim: 128, "
      "intermediate_size: 32768, moe_intermediate_size: 16384, num_local_experts: 8, "
      "num_experts_per_tok: 2, residual_moe: true, sliding_window_size: -1, vocab_size: 131072}");
  CHECK(count_parameters(grok).total == 269'515'497'472);
  CHECK(bytes_of(grok, CacheGroup::full) == 64 * 2 * 8 * 128 * 2);
}

// Snowflake Arctic, "480B": 2 x 32,000 x 7,168 + 7,168 + 35 x (2 x 7,168^2 + 2 x 7,168 x 1,024 +
// 128 x 7,168 + 128 x 3 x 7,168 x 4,864 + 3 x 7,168^2 + 3 x 7,168).
TEST_CASE("Arctic has a dense feed-forward beside its experts") {
  CHECK(count_parameters(
            read("{model_type: arctic, hidden_size: 7168, num_hidden_layers: 35, "
                 "num_attention_heads: 56, num_key_value_heads: 8, intermediate_size: 4864, "
                 "num_local_experts: 128, num_experts_per_tok: 2, moe_layer_frequency: 1, "
                 "use_residual: true, vocab_size: 32000}"))
            .total == 478'584'608'768);
}

// facebook/bart-large: 12 layers of 16 heads of 64 keep keys and values of the decoder's own past,
// and as much of each token that the encoder read.
TEST_CASE("a decoder beside an encoder of text keeps its own past and the encoder's output") {
  const ModelSpec bart = read(
      "{model_type: bart, d_model: 1024, encoder_layers: 12, decoder_layers: 12, "
      "encoder_attention_heads: 16, decoder_attention_heads: 16, encoder_ffn_dim: 4096, "
      "decoder_ffn_dim: 4096, max_position_embeddings: 1024, vocab_size: 50265}");
  CHECK(bytes_of(bart, CacheGroup::full) == 12 * 2 * 16 * 64 * 2);
  std::size_t looking = 0;
  for (const CacheGroup& g : cache_groups(bart, cache_formats("bf16")))
    if (g.kind == CacheGroup::cross) looking += g.layers.size();
  CHECK(looking == 12);
  // facebook/bart-large's "400M": 50,265 x 1,024 + 2 x 1,026 x 1,024 + 2 x 2 x 1,024; 12 x (4 x
  // 1,024 x 1,025 + 4,096 x 2,049 + 1,024 + 2 x 2,048); 12 x (8 x 1,024 x 1,025 + 4,096 x 2,049 +
  // 1,024 + 3 x 2,048).
  CHECK(count_parameters(bart).total == 406'291'456);
}

// Layers of GLM-5 Next with KDA keep 64 states of 128 x 128 in fp32 and three rows of 3 x 8,192;
// the fourth keeps latents of 512 without a rotary part and, for every 16 tokens, an index key.
TEST_CASE("GLM-5 Next keeps states, latents without a rotary part and pooled index keys") {
  const ModelSpec model = read(
      "{model_type: glm5_next_text, hidden_size: 4096, num_hidden_layers: 4, "
      "num_attention_heads: 64, head_dim: 0, intermediate_size: 12288, vocab_size: 154880, "
      "kv_lora_rank: 512, q_lora_rank: 1536, qk_nope_head_dim: 256, qk_rope_head_dim: 0, "
      "v_head_dim: 256, hc_mult: 4, index_head_dim: 128, index_n_heads: 32, index_topk: 2048, "
      "index_kpool: 16, linear_num_heads: 64, linear_head_dim: 128, linear_conv_kernel_dim: 4, "
      "layer_types: [linear_attention, linear_attention, linear_attention, indexed_attention]}");
  CHECK(bytes_of(model, CacheGroup::latent) == 512 * 2);
  CHECK(bytes_of(model, CacheGroup::index) == 128 * 2 / 16);
  CHECK(bytes_of(model, CacheGroup::state) == 3LL * (64 * 128 * 128 * 4 + 3 * 3 * 8192 * 2));
}

// Mistral Large 4: every fourth layer's row has no rotary part of 64.
TEST_CASE("latents of Mistral Large 4 are narrower in layers without rotary positions") {
  const std::string config =
      "model_type: mistral_large4_text, hidden_size: 6144, num_hidden_layers: 4, "
      "num_attention_heads: 64, intermediate_size: 24576, vocab_size: 204800, kv_lora_rank: 512, "
      "qk_nope_head_dim: 64, qk_rope_head_dim: 64, v_head_dim: 128, index_head_dim: 128, "
      "index_n_heads: 32, index_topk: 2048";
  CHECK(bytes_of(read("{" + config + "}"), CacheGroup::latent) == (3 * 576 + 512) * 2);
  // The last of three layers that share reads the second's rows.
  const ModelSpec shared = read("{" + config +
                                ", indexer_types: [full, full, shared, full], "
                                "kv_source_layers: [0, 1, 1, 3]}");
  CHECK(bytes_of(shared, CacheGroup::latent) == (2 * 576 + 512) * 2);
  CHECK(bytes_of(shared, CacheGroup::index) == 3 * 128 * 2);
}

// GLM-5.2 without its list: index_topk_freq 4 after the first layers leaves three of eight layers
// their own keys (transformers' GlmMoeDsaConfig: full where max(i - 2 + 1, 0) is a multiple of 4).
TEST_CASE("a frequency says which layers own an indexer where no list does") {
  const ModelSpec model = read(
      "{model_type: glm_moe_dsa, hidden_size: 2048, num_hidden_layers: 8, num_attention_heads: 16, "
      "intermediate_size: 4096, vocab_size: 1000, kv_lora_rank: 512, q_lora_rank: 768, "
      "qk_nope_head_dim: 128, qk_rope_head_dim: 64, v_head_dim: 128, index_head_dim: 128, "
      "index_n_heads: 16, index_topk: 2048, index_topk_freq: 4}");
  CHECK(bytes_of(model, CacheGroup::index) == 3 * 128 * 2);  // layers 0, 1 and 5
}

// dots3: layers that slide keep latents of their own rank for the window.
TEST_CASE("a window over latents keeps their own rank") {
  const ModelSpec model = read(
      "{model_type: dots3_note_text, hidden_size: 1024, num_hidden_layers: 2, "
      "num_attention_heads: 16, intermediate_size: 4096, vocab_size: 1000, kv_lora_rank: 512, "
      "q_lora_rank: 256, qk_nope_head_dim: 128, qk_rope_head_dim: 64, v_head_dim: 128, "
      "index_head_dim: 128, index_n_heads: 16, index_topk: 2048, sliding_window: 512, "
      "layer_types: [indexed_attention, sliding_attention], per_layer_config: {1: {kv_lora_rank: "
      "1024, num_attention_heads: 8, num_key_value_heads: 8}}}");
  std::int64_t windowed = 0;
  for (const CacheGroup& g : cache_groups(model, cache_formats("bf16")))
    if (std::holds_alternative<Window>(g.law))
      windowed += static_cast<std::int64_t>(bytes_per_token(g));
  CHECK(windowed == (1024 + 64) * 2);
  CHECK(bytes_of(model, CacheGroup::latent) == (512 + 64 + 1024 + 64) * 2);
}

// apple/OpenELM-270M: 16 layers of 12 to 20 heads in groups of four, feed-forwards of half to four
// times the width, rounded to 256; 271,527,168 parameters in the published file.
TEST_CASE("heads and feed-forwards of OpenELM widen from layer to layer") {
  const ModelSpec model = read(
      "{model_type: openelm, model_dim: 1280, num_transformer_layers: 16, head_dim: 64, "
      "num_query_heads: [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20], "
      "num_kv_heads: [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5], ffn_dim_divisor: 256, "
      "ffn_multipliers: [0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07, 3.3, "
      "3.53, 3.77, 4.0], ffn_with_glu: true, normalize_qk_projections: true, "
      "share_input_output_layers: true, max_context_length: 2048, vocab_size: 32000}");
  CHECK(count_parameters(model).total == 271'527'168);
  CHECK(bytes_of(model, CacheGroup::full) == (5 * 3 + 7 * 4 + 4 * 5) * 2 * 64 * 2);
  CHECK(model.max_context->n == 2048);
}

// NX-AI/xLSTM-7b: 32 blocks of 8 heads, each a matrix of 256 x 512, a row of 256 and a number in
// fp32; 6,865,424,896 parameters in the published file.
TEST_CASE("xLSTM keeps a matrix, a row and a number a head") {
  const ModelSpec model = read(
      "{model_type: xlstm, embedding_dim: 4096, num_blocks: 32, num_heads: 8, head_dim: 512, "
      "qk_dim_factor: 0.5, v_dim_factor: 1.0, ffn_proj_factor: 2.667, "
      "ffn_round_up_to_multiple_of: 64, vocab_size: 50304, tie_word_embeddings: false}");
  CHECK(count_parameters(model).total == 6'865'424'896);
  CHECK(bytes_of(model, CacheGroup::full) == 0);
  CHECK(bytes_of(model, CacheGroup::state) == 32LL * 8 * (256 * 512 + 256 + 1) * 4);
}

// DeciLM: of four layers two keep 4 KV heads of 128, two keep 2.
TEST_CASE("layers of DeciLM have KV heads of their own number") {
  CHECK(bytes_of(read("{model_type: deci, hidden_size: 4096, num_hidden_layers: 4, "
                      "num_attention_heads: 32, num_key_value_heads_per_layer: [4, 4, 2, 2], "
                      "intermediate_size: 14336, vocab_size: 32000}"),
                 CacheGroup::full) == (4 + 4 + 2 + 2) * 2 * 128 * 2);
}

// Inkling: beside a window of 16 heads or the whole past of 8, each layer keeps three rows of what
// its four convolutions saw: keys, values and twice the width.
TEST_CASE("layers of Inkling keep rows of their convolutions beside keys and values") {
  const ModelSpec model = read(
      "{model_type: inkling_text, hidden_size: 6144, num_hidden_layers: 2, head_dim: 128, "
      "num_attention_heads: 64, num_key_value_heads: 8, swa_num_key_value_heads: 16, "
      "swa_num_attention_heads: 64, swa_head_dim: 128, sliding_window_size: 512, "
      "intermediate_size: 24576, vocab_size: 201024, layer_types: [hybrid_sliding, hybrid], "
      "mlp_layer_types: [dense, dense], conv_kernel_size: 4, d_rel: 16, rel_extent: 1024}");
  CHECK(bytes_of(model, CacheGroup::full) == 2 * 8 * 128 * 2);
  CHECK(bytes_of(model, CacheGroup::window) == 2 * 16 * 128 * 2);
  CHECK(bytes_of(model, CacheGroup::state) ==
        3 * 2 * ((2 * 16 * 128 + 2 * 6144) + (2 * 8 * 128 + 2 * 6144)));
}

// A wrapper's Nemotron-H without num_hidden_layers: its own list counts, not the class' four
// layers.
TEST_CASE("a nested list of layers goes before the number that its class has by default") {
  const auto layers = [](const std::string& keys) {
    return read("{model_type: nemo_speechlm, text_config: {model_type: nemotron_h, " + keys +
                ", hidden_size: 2688, num_attention_heads: 32, num_key_value_heads: 2, "
                "mamba_num_heads: 64, mamba_head_dim: 64, ssm_state_size: 128, n_groups: 8, "
                "conv_kernel: 4, intermediate_size: 1856, n_routed_experts: 128, "
                "num_experts_per_tok: 6, moe_intermediate_size: 1856, vocab_size: 131072}}")
        .layers.size();
  };
  CHECK(layers("layers_block_type: [linear_attention, moe, linear_attention, moe, "
               "full_attention, moe]") == 6);
  CHECK(layers("hybrid_override_pattern: MEMEM*E") == 7);
  CHECK_THROWS_AS(layers("num_hidden_layers: 2, layers_block_type: [mamba, moe, mamba]"), Error);
}
