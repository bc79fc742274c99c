// SPDX-License-Identifier: Apache-2.0
// Shapes that models publish, and the exact totals of their safetensors files.
#include "catalog/huggingface.h"

#include <doctest/doctest.h>

#include <string>

#include "model/parameters.h"

using namespace kvplan;

namespace {

ModelSpec read(const std::string& yaml) { return read_huggingface(parse_yaml(yaml)); }

}  // namespace

TEST_CASE("a plain decoder has the parameters of its published file") {
  // huggyllama/llama-7b: 2 x 32000 x 4096 + 32 x (4 x 4096^2 + 3 x 4096 x 11008 + 2 x 4096) + 4096.
  const ModelSpec llama = read(
      "{model_type: llama, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, "
      "intermediate_size: 11008, vocab_size: 32000}");
  CHECK(count_parameters(llama).total == 6'738'415'616);
  CHECK(main_layers(llama).size() == 32);
  CHECK_FALSE(llama.tied_head);
  // Qwen/Qwen2.5-7B (tied: no): implicit biases on q, k and v.
  const ModelSpec qwen = read(
      "{model_type: qwen2, hidden_size: 3584, num_hidden_layers: 28, num_attention_heads: 28, "
      "num_key_value_heads: 4, intermediate_size: 18944, vocab_size: 152064, "
      "tie_word_embeddings: false}");
  CHECK(count_parameters(qwen).total == 7'615'616'512);
}

TEST_CASE("experts count all for memory and the chosen ones for speed") {
  // mistralai/Mixtral-8x7B-v0.1.
  const Parameters p = count_parameters(read(
      "{model_type: mixtral, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, "
      "num_key_value_heads: 8, intermediate_size: 14336, vocab_size: 32000, num_local_experts: 8, "
      "num_experts_per_tok: 2}"));
  CHECK(p.total == 46'702'792'704);
  // Six of eight experts unread, and the embedding table.
  CHECK(p.active == p.total - 32LL * 6 * 3 * 4096 * 14336 - 32000LL * 4096);
}

TEST_CASE("a configuration without experts may say that a token takes none") {
  // ibm-granite/granite-4.0-h-350m: num_local_experts 0, num_experts_per_tok 0.
  const ModelSpec model = read(
      "{model_type: granitemoehybrid, hidden_size: 768, num_hidden_layers: 2, "
      "num_attention_heads: 12, num_key_value_heads: 4, intermediate_size: 2048, "
      "shared_intermediate_size: 2048, num_local_experts: 0, num_experts_per_tok: 0, vocab_size: "
      "100352, layer_types: [mamba, attention], mamba_n_heads: 48, mamba_d_head: 32, "
      "mamba_d_state: 128, mamba_n_groups: 1, mamba_d_conv: 4, mamba_expand: 2}");
  CHECK(main_layers(model).size() == 2);
  const auto& state = std::get<Recurrent>(model.layers.front().mixer.kind);
  CHECK(state.state_format == nullptr);  // engines keep such states in formats of their own
}

namespace {

// A plain decoder with one key written as `changed`: "key: value", put before all others.
std::string decoder(const std::string& changed, const std::string& left_out = {}) {
  std::string text = "{" + changed;
  for (const std::string key : {"model_type: llama", "hidden_size: 4096", "num_hidden_layers: 32",
                                "num_attention_heads: 32", "num_key_value_heads: 8",
                                "intermediate_size: 11008", "vocab_size: 32000"}) {
    const std::string name = key.substr(0, key.find(':'));
    if (name == left_out || changed.starts_with(name + ":")) continue;
    text += (text.size() > 1 ? ", " : "") + key;
  }
  return text + "}";
}

struct Refusal {
  std::string key, text;
};
Refusal refusal(const std::string& yaml) {
  try {
    read(yaml);
  } catch (const Error& e) {
    return {e.key, std::string(e.what()) + " " + e.advice};
  }
  return {"", "was read"};
}

}  // namespace

TEST_CASE("absurd values are refused by the name of their key") {
  for (const std::string changed : {"num_attention_heads: 0",
                                    "num_attention_heads: -32",
                                    "num_hidden_layers: 0",
                                    "num_hidden_layers: 1000000000000000000",
                                    "num_hidden_layers: 1e18",
                                    "num_hidden_layers: 1000000000000000000000000000000",
                                    "num_key_value_heads: 3",
                                    "num_key_value_heads: 0",
                                    "num_key_value_heads: -8",
                                    "hidden_size: -4096",
                                    "hidden_size: big",
                                    "hidden_size: '4096'",
                                    "hidden_size: 4096.5",
                                    "hidden_size: true",
                                    "hidden_size: [4096]",
                                    "hidden_size: {width: 4096}",
                                    "vocab_size: 0",
                                    "vocab_size: -1",
                                    "intermediate_size: -3",
                                    "max_position_embeddings: 0",
                                    "sliding_window: 0",
                                    "sliding_window: -5",
                                    "sliding_window: wide",
                                    "head_dim: 0",
                                    "head_dim: 1000000000",
                                    "tie_word_embeddings: maybe",
                                    "num_nextn_predict_layers: 1000000",
                                    "kv_lora_rank: 0",
                                    "quantization_config: fp8",
                                    "model_type: [llama]"}) {
    CAPTURE(changed);
    CHECK(refusal(decoder(changed)).key == changed.substr(0, changed.find(':')));
  }
  CHECK(refusal(decoder("num_attention_heads: 33", "num_key_value_heads")).key == "head_dim");
}

TEST_CASE("a model beyond every size is refused before its bytes are summed") {
  CHECK(refusal("{model_type: llama, hidden_size: 16777216, num_hidden_layers: 10000, "
                "num_attention_heads: 1, intermediate_size: 16777216, vocab_size: 2147483648}")
            .key == "hidden_size");
}

TEST_CASE("contradictory values are refused by the name of a key") {
  CHECK(refusal(decoder("n_layer: 31")).key == "n_layer");
  CHECK(refusal(decoder("d_model: 2048")).key == "d_model");
  CHECK(refusal(decoder("num_local_experts: 8, num_experts_per_tok: 9")).key ==
        "num_experts_per_tok");
  CHECK(refusal(decoder("num_local_experts: 8")).key == "num_experts_per_tok");
  CHECK(refusal(decoder("num_experts: 8, num_experts_per_tok: 2, mlp_only_layers: [99]")).key ==
        "mlp_only_layers");
  CHECK(refusal("{model_type: gemma3n_text, hidden_size: 64, num_hidden_layers: 4, "
                "num_attention_heads: 2, intermediate_size: 128, vocab_size: 100, laurel_rank: 4, "
                "altup_num_inputs: 2, num_kv_shared_layers: 4}")
            .key == "num_kv_shared_layers");
}

TEST_CASE("a list of layer types must fit the layers") {
  const auto listed = [](int entries) {
    std::string list = "layer_types: [full_attention";
    for (int i = 1; i < entries; ++i) list += ", full_attention";
    return decoder(list + "]");
  };
  CHECK(refusal(listed(32)).text == "was read");
  CHECK(refusal(listed(31)).key == "layer_types");
  CHECK(refusal(listed(33)).key == "layer_types");
  CHECK(refusal(decoder("layer_types: [linear_attentoin]")).key == "layer_types");
  CHECK(refusal(decoder("layer_types: full_attention")).key == "layer_types");
}

TEST_CASE("a multimodal configuration without its text model names what is missing") {
  CHECK(refusal("{model_type: gemma3, vision_config: {hidden_size: 1152}}").key == "text_config");
  CHECK(refusal("{model_type: gemma3, text_config: null, vision_config: {hidden_size: 1}}").key ==
        "text_config");
  CHECK(refusal("{model_type: gemma3, text_config: here}").key == "text_config");
}

TEST_CASE("a key that somebody typed wrong is met with the near miss") {
  for (const auto& [right, wrong] :
       {std::pair<std::string, std::string>{"num_attention_heads", "num_attention_head"},
        {"num_attention_heads", "num_atention_heads"},
        {"num_key_value_heads", "num_key_value_head"},
        {"intermediate_size", "intermediate_sise"},
        {"hidden_size", "hiden_size"},
        {"num_hidden_layers", "num_hiden_layers"}}) {
    CAPTURE(wrong);
    const Refusal r = refusal(decoder(wrong + ": 32", right));
    CHECK((r.key == right || r.key == wrong));
    CHECK(r.text.find(r.key == right ? wrong : right) != std::string::npos);
  }
}

TEST_CASE("a family that kv-plan does not know is read only where it is built as Llama") {
  const std::string like = decoder("model_type: somebodys, hidden_act: silu, rms_norm_eps: 1e-5");
  const ModelSpec model = read(like);
  CHECK(model.warnings.at(0).code == "unknown-model-type");
  // BioGPT, Persimmon, BitNet: two matrices in a feed-forward, squared ReLU.
  for (const std::string activation : {"gelu", "relu2", "quick_gelu"})
    CHECK(refusal(
              decoder("model_type: somebodys, hidden_act: " + activation + ", rms_norm_eps: 1e-5"))
              .key == "model_type");
  CHECK(refusal(decoder("model_type: somebodys, hidden_act: silu, layer_norm_eps: 1e-5")).key ==
        "model_type");
  CHECK(refusal(decoder("model_type: somebodys, hidden_act: silu, rms_norm_eps: 1e-5, "
                        "shared_block_size: 7"))
            .text.find("somebodys") != std::string::npos);
}

TEST_CASE("a bias of queries, keys and values is none of the output") {
  // transformers writes qkv_bias into what it saves: Qwen1.5-MoE-A2.7B, 14,315,784,192.
  CHECK(count_parameters(
            read("{model_type: qwen2_moe, hidden_size: 2048, intermediate_size: 5632, "
                 "num_hidden_layers: 24, num_attention_heads: 16, num_key_value_heads: 16, "
                 "vocab_size: 151936, num_experts: 60, num_experts_per_tok: 4, "
                 "moe_intermediate_size: 1408, shared_expert_intermediate_size: 5632, "
                 "qkv_bias: true, tie_word_embeddings: false}"))
            .total == 14'315'784'192);
}

TEST_CASE("hybrids say by either of their names which layers attend") {
  const auto granite = [](const std::string& one, const std::string& other) {
    return read(
        "{model_type: granitemoehybrid, hidden_size: 64, num_hidden_layers: 2, "
        "num_attention_heads: 4, intermediate_size: 128, vocab_size: 100, "
        "mamba_n_heads: 4, mamba_d_head: 32, mamba_d_state: 16, mamba_d_conv: 4, "
        "layer_types: [" +
        one + ", " + other + "]}");
  };
  const Parameters v4 = count_parameters(granite("mamba", "attention")),
                   v5 = count_parameters(granite("linear_attention", "full_attention"));
  CHECK(v4.total == v5.total);
  CHECK(v4.attention == v5.attention);
}

TEST_CASE("a list that says one number for every layer is that number") {
  const std::string one = decoder("model_type: hunyuan_v1_moe, num_experts: 8, moe_topk: 2");
  const std::string listed =
      decoder("model_type: hunyuan_v1_moe, num_experts: 8, moe_topk: [2, 2, 2]");
  CHECK(refusal(one).text == "was read");
  CHECK(refusal(listed).text == "was read");
  CHECK(refusal(decoder("model_type: hunyuan_v1_moe, num_experts: 8, moe_topk: [2, 3]")).key ==
        "moe_topk");
  CHECK(refusal(decoder("use_cla: true")).key == "use_cla");
}

TEST_CASE("keys of one layer alone say how it differs from the others") {
  // As transformers v5 writes Gemma 4: global layers are wider.
  const auto gemma = [](const std::string& keys) {
    return read(
        "{model_type: gemma4_text, hidden_size: 64, num_hidden_layers: 4, "
        "num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16, "
        "intermediate_size: 128, vocab_size: 100, sliding_window: 8, " +
        keys + "}");
  };
  const auto width = [](const ModelSpec& m, std::size_t i) {
    return std::get<Attention>(m.layers.at(i).mixer.kind).k_width;
  };
  const ModelSpec listed = gemma("per_layer_config: {'03': {head_dim: 32}}"),
                  global = gemma("global_head_dim: 32");
  for (const ModelSpec* m : {&listed, &global}) {
    CHECK(width(*m, 0) == 16);
    CHECK(width(*m, 3) == 32);
    CHECK(std::holds_alternative<All>(m->layers.at(3).mixer.reach.at(0)));
  }
  CHECK(count_parameters(listed).total == count_parameters(global).total);
}

TEST_CASE("a diffusion model says that its cache is an approximation") {
  const ModelSpec dream = read(decoder("model_type: Dream, use_sliding_window: false"));
  CHECK(dream.warnings.at(0).code == "diffusion");
}

TEST_CASE("LLaDA's keys are OLMo's") {
  // GSAI-ML/LLaDA-8B-Base, 8,015,581,184 as its page shows.
  const ModelSpec llada = read(
      "{model_type: llada, d_model: 4096, n_layers: 32, n_heads: 32, n_kv_heads: 32, "
      "mlp_hidden_size: 12288, vocab_size: 126464, embedding_size: 126464, block_type: llama, "
      "attention_layer_norm: false, layer_norm_with_affine: true, mlp_ratio: 4, "
      "weight_tying: false, max_sequence_length: 4096}");
  CHECK(count_parameters(llada).total == 8'015'581'184);
  CHECK(llada.warnings.at(0).code == "diffusion");
}

TEST_CASE("biases that a key adds are counted, or refused where nobody knows which") {
  // InternLM-7B, 7.32 B: four projections of 32 layers have biases of 4,096.
  const auto internlm = [](const std::string& bias) {
    return count_parameters(read("{model_type: internlm, hidden_size: 4096, num_hidden_layers: 32, "
                                 "num_attention_heads: 32, intermediate_size: 11008, "
                                 "vocab_size: 103168, tie_word_embeddings: false, bias: " +
                                 bias + "}"))
        .total;
  };
  CHECK(internlm("true") == 7'321'948'160);
  CHECK(internlm("true") - internlm("false") == 32 * 4 * 4096);
  CHECK(refusal(decoder("bias: true")).key == "bias");
  CHECK(refusal(decoder("no_bias: false")).key == "no_bias");
  CHECK(refusal(decoder("bias: false, no_bias: true")).text == "was read");
}

TEST_CASE("Falcon reads under the names that it had before") {
  // tiiuae/falcon-40b and falcon-7b as first published: RefinedWeb.
  const ModelSpec large = read(
      "{model_type: RefinedWeb, hidden_size: 8192, n_head: 128, "
      "n_head_kv: 8, n_layer: 60, parallel_attn: true, bias: false, "
      "alibi: false, vocab_size: 65024}");
  CHECK(count_parameters(large).total == 41'303'293'952);
  const ModelSpec small = read(
      "{model_type: RefinedWebModel, hidden_size: 4544, n_head: 71, "
      "n_layer: 32, multi_query: true, parallel_attn: true, "
      "bias: false, vocab_size: 65024}");
  CHECK(count_parameters(small).total == 6'921'720'704);
}

TEST_CASE("a configuration without a model_type is of the family that its class is named after") {
  // As above: huggyllama/llama-7b.
  const std::string shape =
      "hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, "
      "intermediate_size: 11008, vocab_size: 32000}";
  const ModelSpec llama = read("{architectures: [LlamaForCausalLM], " + shape);
  CHECK(count_parameters(llama).total == 6'738'415'616);
  CHECK(llama.model_type == "llama");
  CHECK(read("{architectures: [Gemma2ForCausalLM], sliding_window: 4096, " + shape).tied_head);
  CHECK(refusal("{architectures: [NobodysForCausalLM], " + shape).key == "model_type");
}

TEST_CASE("what a configuration leaves out is what its class takes for it") {
  const auto reads_alike = [](const std::string& type, const std::string& silent,
                              const std::string& said) {
    const std::string start = "{model_type: " + type +
                              ", hidden_size: 1024, num_hidden_layers: 4, num_attention_heads: 8, "
                              "num_key_value_heads: 2, intermediate_size: 2048, vocab_size: 1000";
    CAPTURE(type);
    CHECK(count_parameters(read(start + silent + "}")).total ==
          count_parameters(read(start + silent + ", " + said + "}")).total);
  };
  // Defaults of GemmaConfig, Qwen3Config, SmolLM3Config, Glm4Config, Olmo3Config (transformers).
  reads_alike("gemma", "", "head_dim: 256");
  reads_alike("qwen3", "", "head_dim: 128");
  reads_alike("smollm3", "", "tie_word_embeddings: true");
  reads_alike("glm4", "", "attention_bias: true");
  reads_alike("olmo3", ", sliding_window: 64",
              "layer_types: [sliding_attention, sliding_attention, sliding_attention, "
              "full_attention]");
}

TEST_CASE("Ling 2.0 calls itself as the first Ling, and asks for norms of queries and keys") {
  // inclusionAI/Ling-mini-2.0, 16,255,643,392 as its page shows.
  CHECK(count_parameters(
            read("{model_type: bailing_moe, hidden_size: 2048, intermediate_size: 5120, "
                 "num_hidden_layers: 20, num_attention_heads: 16, num_key_value_heads: 4, "
                 "head_dim: 128, vocab_size: 157184, num_experts: 256, num_experts_per_tok: 8, "
                 "num_shared_experts: 1, moe_intermediate_size: 512, first_k_dense_replace: 1, "
                 "use_qk_norm: true, moe_router_enable_expert_bias: true, "
                 "tie_word_embeddings: false}"))
            .total == 16'255'643'392);
}

TEST_CASE("Zamba 2 says the size of its states twice") {
  // Zyphra/Zamba2-2.7B's keys; transformers builds the same from either.
  const auto zamba = [](const std::string& more) {
    return count_parameters(
               read("{model_type: zamba2, hidden_size: 256, num_hidden_layers: 4, "
                    "num_attention_heads: 4, intermediate_size: 512, vocab_size: 100, "
                    "layers_block_type: [mamba, hybrid, mamba, hybrid], num_mem_blocks: 2, "
                    "n_mamba_heads: 8, mamba_d_state: 16, mamba_d_conv: 4, mamba_expand: 2, "
                    "mamba_headdim: 64, mamba_ngroups: 1" +
                    more + "}"))
        .total;
  };
  CHECK(zamba("") == zamba(", state_size: 16, use_shared_block_lora: true, conv_dimension: 544"));
}

TEST_CASE("a refusal names the model_type first, and says of an encoder that it is one") {
  const Refusal encoder = refusal(decoder("model_type: nomic_bert, hidden_activation: gelu"));
  CHECK(encoder.key == "model_type");
  CHECK(encoder.text.find("'nomic_bert' is an encoder") != std::string::npos);
  const Refusal unknown = refusal(
      decoder("model_type: somebodys, hidden_act: silu, rms_norm_eps: 1e-5, layer_types: [loop]"));
  CHECK(unknown.key == "layer_types");
  CHECK(unknown.text.find("'somebodys' is not known") != std::string::npos);
}

TEST_CASE("Molmo has Qwen2's decoder and more rows in its table") {
  // allenai/Molmo-7B-D-0924: Qwen/Qwen2-7B (7,615,616,512) and 128 rows of 3,584.
  const ModelSpec molmo = read(
      "{model_type: molmo, hidden_size: 3584, intermediate_size: 37888, num_hidden_layers: 28, "
      "num_attention_heads: 28, num_key_value_heads: 4, vocab_size: 152064, qkv_bias: true, "
      "layer_norm_type: rms, attention_layer_norm: false, norm_after: false, "
      "tie_word_embeddings: false}");
  CHECK(count_parameters(molmo).total == 7'615'616'512 + 128 * 3584);
  CHECK(molmo.warnings.at(0).code == "vision-not-counted");
}
