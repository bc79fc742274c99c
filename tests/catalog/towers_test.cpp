// SPDX-License-Identifier: Apache-2.0
// Models around image and audio encoders, and what nested configurations leave out.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "catalog/huggingface.h"
#include "model/parameters.h"

using namespace kvplan;

namespace {

ModelSpec read(const std::string& yaml) { return read_huggingface(parse_yaml(yaml)); }

bool warns(const ModelSpec& model, std::string_view code) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const Warning& w) { return w.code == code; });
}

// LLaVA around a Mistral whose keys are `text`.
ModelSpec llava(const std::string& text) {
  return read("{model_type: llava_next, text_config: {model_type: mistral" + text +
              "}, vision_config: {model_type: clip_vision_model, hidden_size: 1024, "
              "intermediate_size: 4096, num_hidden_layers: 24, image_size: 336, patch_size: 14}}");
}

}  // namespace

TEST_CASE(
    "a nested configuration leaves out what equals its class' defaults, null is not left out") {
  // MistralConfig: 32 layers, 8 KV heads of 128, a window of 4,096.
  const ModelSpec silent = llava("");
  CHECK(main_layers(silent).size() == 32);
  const auto& heads = std::get<Attention>(main_layers(silent)[0]->mixer.kind);
  CHECK(heads.kv_heads == 8);
  CHECK(std::get<Window>(main_layers(silent)[0]->mixer.reach.at(0)).size.n == 4096);
  const ModelSpec unlimited = llava(", sliding_window: null");
  CHECK(std::holds_alternative<All>(main_layers(unlimited)[0]->mixer.reach.at(0)));
}

TEST_CASE("a tower without a shape is named, the text model is counted all the same") {
  const ModelSpec model = read(
      "{model_type: somebodys_vl, text_config: {model_type: llama, vocab_size: 1000}, "
      "vision_config: {model_type: somebodys_vit, hidden_size: 1024}}");
  CHECK(warns(model, "vision-not-counted"));
  CHECK(count_parameters(model).vision == 0);
  CHECK(count_parameters(model).total > 6'000'000'000);
}

TEST_CASE("an absurd side of a patch is an error that names the key") {
  for (const std::string patch : {"0", "[0, 0]", "-14", "[14.5, 14.5]"}) {
    CAPTURE(patch);
    try {
      read(
          "{model_type: llava, text_config: {model_type: llama}, "
          "vision_config: {model_type: clip_vision_model, patch_size: " +
          patch + "}}");
      FAIL("was read");
    } catch (const Error& e) {
      CHECK(e.key == "patch_size");
    }
  }
}

TEST_CASE("MiniCPM-V has the text model of its version") {
  // openbmb/MiniCPM-V-2_6 and openbmb/MiniCPM-Llama3-V-2_5, as their pages show.
  const std::string tower =
      "vision_config: {hidden_size: 1152, image_size: 980, intermediate_size: 4304, "
      "model_type: siglip, num_attention_heads: 16, num_hidden_layers: 27, patch_size: 14}}";
  const ModelSpec qwen = read(
      "{model_type: minicpmv, version: '2.6', hidden_size: 3584, intermediate_size: 18944, "
      "num_attention_heads: 28, num_hidden_layers: 28, num_key_value_heads: 4, "
      "vocab_size: 151666, tie_word_embeddings: false, query_num: 64, " +
      tower);
  CHECK(count_parameters(qwen).total == 8'099'175'152);
  const ModelSpec llama = read(
      "{model_type: minicpmv, version: '2.5', hidden_size: 4096, intermediate_size: 14336, "
      "num_attention_heads: 32, num_hidden_layers: 32, num_key_value_heads: 8, "
      "vocab_size: 128256, tie_word_embeddings: false, query_num: 96, " +
      tower);
  CHECK(count_parameters(llama).total == 8'537'092'336);
}

TEST_CASE("MiniCPM-V 4.5 has Qwen3 inside") {
  // openbmb/MiniCPM-V-4_5, as its page shows.
  const ModelSpec model = read(
      "{model_type: minicpmv, version: 4.5, hidden_size: 4096, intermediate_size: 12288, "
      "num_attention_heads: 32, num_hidden_layers: 36, num_key_value_heads: 8, head_dim: 128, "
      "vocab_size: 151748, tie_word_embeddings: false, query_num: 64, "
      "vision_config: {hidden_size: 1152, image_size: 980, intermediate_size: 4304, "
      "model_type: siglip_vision_model, num_hidden_layers: 27, patch_size: 14}}");
  CHECK(count_parameters(model).total == 8'695'895'280);
}

TEST_CASE("InternVL has the text model that it names") {
  // OpenGVLab/InternVL3-8B, 7,944,373,760, and InternVL3_5-8B, 8,528,318,464, as their pages show.
  const std::string tower =
      ", vision_config: {model_type: intern_vit_6b, hidden_size: 1024, image_size: 448, "
      "intermediate_size: 4096, norm_type: layer_norm, num_hidden_layers: 24, patch_size: 14, "
      "qk_normalization: false, qkv_bias: true}}";
  CHECK(count_parameters(
            read("{model_type: internvl_chat, downsample_ratio: 0.5, llm_config: {model_type: "
                 "qwen2, hidden_size: 3584, intermediate_size: 18944, num_attention_heads: 28, "
                 "num_hidden_layers: 28, num_key_value_heads: 4, tie_word_embeddings: false, "
                 "vocab_size: 151674}" +
                 tower))
            .total == 7'944'373'760);
  CHECK(count_parameters(
            read("{model_type: internvl_chat, downsample_ratio: 0.5, llm_config: {model_type: "
                 "qwen3, hidden_size: 4096, intermediate_size: 12288, num_attention_heads: 32, "
                 "num_hidden_layers: 36, num_key_value_heads: 8, tie_word_embeddings: false, "
                 "vocab_size: 151936}" +
                 tower))
            .total == 8'528'318'464);
}

TEST_CASE("the thinker of an omni model is read, its talker named") {
  // Qwen/Qwen2.5-Omni-7B: 8.93 B without the talker.
  const ModelSpec omni = read(
      "{model_type: qwen2_5_omni, talker_config: {hidden_size: 896}, thinker_config: {"
      "text_config: {model_type: qwen2_5_omni_text}, "
      "audio_config: {d_model: 1280, encoder_layers: 32, encoder_ffn_dim: 5120, "
      "num_mel_bins: 128, output_dim: 3584}, "
      "vision_config: {depth: 32, hidden_size: 1280, intermediate_size: 3420, patch_size: 14, "
      "out_hidden_size: 3584, temporal_patch_size: 2}}}");
  CHECK(count_parameters(omni).total == 8'931'813'888);
  CHECK(warns(omni, "part-not-counted"));
}

// microsoft/Phi-4-multimodal-instruct: 5,574,460,384 numbers in its published file, adapters of
// rank 256 for images and 320 for speech among them.
TEST_CASE("Phi-4-multimodal brings two towers and two sets of adapters") {
  const ModelSpec model = read(
      "{model_type: phi4mm, hidden_size: 3072, intermediate_size: 8192, num_hidden_layers: 32, "
      "num_attention_heads: 24, num_key_value_heads: 8, vocab_size: 200064, sliding_window: "
      "262144, tie_word_embeddings: true, max_position_embeddings: 131072, img_processor: null, "
      "vision_lora: {dp: 0.0, r: 256}, speech_lora: {dp: 0.01, r: 320}, audio_processor: {name: "
      "cascades, config: {attention_dim: 1024, attention_heads: 16, input_size: 80, kernel_size: "
      "3, linear_units: 1536, num_blocks: 24, time_reduction: 8, nemo_conv_settings: "
      "{conv_channels: 1024}, relative_attention_bias_args: {t5_bias_max_distance: 500}}}}");
  CHECK(count_parameters(model).total == 5'574'460'384);
  CHECK(!warns(model, "part-not-counted"));
}

// Llama's width of 4 x 64 would be a guess; GPT-J's feed-forwards, which have no gate, are that
// wide.
TEST_CASE("a gated feed-forward of unknown width is refused, one without a gate is four times") {
  const std::string rest =
      ", hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, vocab_size: 100}";
  try {
    read("{model_type: llama" + rest);
    FAIL("read");
  } catch (const Error& e) {
    CHECK(e.key == "intermediate_size");
  }
  const ModelSpec gptj = read("{model_type: gptj" + rest);
  for (const Weight& w : gptj.layers[0].weights)
    if (w.name == "mlp.up_proj") CHECK(w.rows == 4 * 64);
}

// deepseek-ai/DeepSeek-OCR: 3,336,106,240 in its published file.
TEST_CASE("DeepSeek-OCR brings SAM's encoder and CLIP's, one after the other") {
  const ModelSpec model = read(
      "{model_type: deepseek_vl_v2, language_config: {architectures: [DeepseekV2ForCausalLM], "
      "first_k_dense_replace: 1, hidden_size: 1280, intermediate_size: 6848, kv_lora_rank: null, "
      "max_position_embeddings: 8192, moe_intermediate_size: 896, n_routed_experts: 64, "
      "n_shared_experts: 2, num_attention_heads: 10, num_experts_per_tok: 6, num_hidden_layers: "
      "12, num_key_value_heads: 10, q_lora_rank: null, qk_nope_head_dim: 0, qk_rope_head_dim: 0, "
      "use_mla: false, v_head_dim: 0, vocab_size: 129280}, projector_config: {input_dim: 2048, "
      "model_type: mlp_projector, n_embed: 1280, projector_type: linear}, vision_config: "
      "{image_size: 1024, model_name: deeplip_b_l, model_type: vision, width: {clip-l-14-224: "
      "{heads: 16, image_size: 224, layers: 24, patch_size: 14, width: 1024}, sam_vit_b: "
      "{downsample_channels: [512, 1024], global_attn_indexes: [2, 5, 8, 11], heads: 12, layers: "
      "12, width: 768}}}}");
  CHECK(count_parameters(model).total == 3'336'106'240);
  CHECK(!warns(model, "vision-not-counted"));
}

// answerdotai/ModernBERT-base: 149,655,232 in its published file, which fills in words; 149,014,272
// without the head, as transformers' ModernBertModel.
TEST_CASE("ModernBERT's head is counted where it fills in words") {
  const auto total = [](const std::string& kind) {
    return count_parameters(
               read("{architectures: [" + kind +
                    "], model_type: modernbert, hidden_size: 768, intermediate_size: 1152, "
                    "num_attention_heads: 12, num_hidden_layers: 22, vocab_size: 50368, norm_bias: "
                    "false, local_attention: 128, global_attn_every_n_layers: 3, decoder_bias: "
                    "true, max_position_embeddings: 8192}"))
        .total;
  };
  CHECK(total("ModernBertForMaskedLM") == 149'655'232);
  CHECK(total("ModernBertModel") == 149'014'272);
}
