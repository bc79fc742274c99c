// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "catalog/safetensors_writer.h"
#include "catalog/scratch.h"
#include "model/parameters.h"

using namespace kvplan;
using testing::SafetensorsWriter;
using testing::Scratch;

namespace {

// Two layers, 256 wide, 4 heads of 64 of which 2 have keys, 512 inner, 1000 tokens.
const std::string kConfig =
    R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 512,
        "vocab_size": 1000, "torch_dtype": "bfloat16")";

void add_layer(SafetensorsWriter& w, const std::string& prefix) {
  w.bf16(prefix + "self_attn.q_proj.weight", {256, 256});
  w.bf16(prefix + "self_attn.k_proj.weight", {128, 256});
  w.bf16(prefix + "self_attn.v_proj.weight", {128, 256});
  w.bf16(prefix + "self_attn.o_proj.weight", {256, 256});
  for (const char* name : {"gate_proj", "up_proj"})
    w.bf16(prefix + "mlp." + name + ".weight", {512, 256});
  w.bf16(prefix + "mlp.down_proj.weight", {256, 512});
  w.bf16(prefix + "input_layernorm.weight", {256});
  w.bf16(prefix + "post_attention_layernorm.weight", {256});
}

SafetensorsWriter small_model(bool head = true) {
  SafetensorsWriter w;
  w.bf16("model.embed_tokens.weight", {1000, 256}).bf16("model.norm.weight", {256});
  if (head) w.bf16("lm_head.weight", {1000, 256});
  for (const char* layer : {"0", "1"}) add_layer(w, "model.layers." + std::string(layer) + ".");
  return w;
}

ModelSpec read(const SafetensorsWriter& w, const std::string& more_config = {}) {
  const Scratch scratch;
  scratch.write("config.json", kConfig + more_config + "}");
  return read_safetensors(scratch.write("model.safetensors", w.file()));
}

std::string codes(const ModelSpec& model) {
  std::string out;
  for (const Warning& w : model.warnings) out += w.code + " ";
  return out;
}

std::string message(const ModelSpec& model, const std::string& code) {
  for (const Warning& w : model.warnings)
    if (w.code == code) return w.message;
  return {};
}

std::int64_t elements(const Layer& layer) {
  std::int64_t sum = 0;
  for (const Weight& w : layer.weights) sum += w.elements();
  return sum;
}

// A layer: 2 · 256² + 2 · 128 · 256 + 3 · 512 · 256 + 2 · 256.
constexpr std::int64_t kLayer = 590'336;

}  // namespace

TEST_CASE("a checkpoint that agrees with its configuration brings no warning") {
  const SafetensorsWriter w = small_model();
  const ModelSpec model = read(w);
  CHECK(codes(model) == "");
  CHECK(count_parameters(model).total == 2 * kLayer + 2 * 256'000 + 256);
  CHECK(resident_weights(model).n == static_cast<std::int64_t>(w.data_bytes()));
  CHECK_FALSE(model.tied_head);
  CHECK(model.layers[0].weights.size() == 8);  // norms are one weight of two copies
}

TEST_CASE("a tied head that is stored all the same is named and not counted") {
  const ModelSpec model = read(small_model(), R"(, "tie_word_embeddings": true)");
  CHECK(codes(model) == "tied-head-stored ");
  CHECK(model.head_once_more);
  CHECK(count_parameters(model).total == 2 * kLayer + 256'000 + 256);
  CHECK(count_parameters(model).stored_copies == 256'000);
}

TEST_CASE("a head that is not stored is the embedding table") {
  const ModelSpec model = read(small_model(false));
  CHECK(model.tied_head);
  CHECK(codes(model).find("head-not-stored") != std::string::npos);
}

TEST_CASE("prediction layers that the configuration does not mention are named and kept apart") {
  SafetensorsWriter numbered = small_model(), named = small_model();
  add_layer(numbered, "model.layers.2.");
  add_layer(named, "mtp.layers.0.");
  named.bf16("mtp.fc.weight", {256, 512});
  for (const auto& [w, extra] : {std::pair{&numbered, 0}, std::pair{&named, 256 * 512}}) {
    const ModelSpec model = read(*w);
    CHECK(codes(model) == "mtp-not-in-config ");
    CHECK(count_parameters(model).mtp == kLayer + extra);
    CHECK(count_parameters(model).total == 2 * kLayer + 2 * 256'000 + 256);
    REQUIRE(model.layers.size() == 3);
    CHECK(std::get<Attention>(model.layers[2].mixer.kind).kv_heads == 2);
  }
}

TEST_CASE("prediction layers that only the configuration mentions are named and dropped") {
  const ModelSpec model = read(small_model(), R"(, "num_nextn_predict_layers": 1)");
  CHECK(codes(model) == "mtp-not-stored ");
  CHECK(model.layers.size() == 2);
}

TEST_CASE("tensors of unknown names are counted as read and named") {
  SafetensorsWriter w = small_model();
  w.f32("model.layers.1.mystery", {10}).bf16("enigma.table", {5, 5});
  const ModelSpec model = read(w);
  CHECK(message(model, "unknown-tensors").find("2 tensors of 90 bytes") != std::string::npos);
  CHECK(message(model, "unknown-tensors").find("model.layers.1.mystery") != std::string::npos);
  CHECK(message(model, "layer-differs").find("mlp 393226 instead of 393216") != std::string::npos);
  CHECK(message(model, "ends-differ").find("mlp 25 instead of 0") != std::string::npos);
  CHECK(resident_weights(model).n == static_cast<std::int64_t>(w.data_bytes()));
}

TEST_CASE("layers of another size than the configuration's are named together") {
  SafetensorsWriter w = small_model();
  for (const char* layer : {"0", "1"})
    w.bf16("model.layers." + std::string(layer) + ".self_attn.q_proj.bias", {256});
  const ModelSpec model = read(w);
  CHECK(message(model, "layer-differs") ==
        "parameters of layer 0 and 1 others: attention 196864 instead of 196608");
}

TEST_CASE("towers are vision, wherever they count layers") {
  SafetensorsWriter w = small_model();
  w.bf16("vision_tower.encoder.layers.7.self_attn.q_proj.weight", {64, 64});
  w.bf16("model.visual.blocks.3.attn.qkv.bias", {192});
  w.bf16("multi_modal_projector.linear_1.weight", {256, 64});
  const ModelSpec model = read(w);
  CHECK(count_parameters(model).vision == 64 * 64 + 192 + 256 * 64);
  CHECK(codes(model) == "vision-differs ");
}

// Encoder and decoder count their layers from 0 each. Names of google-t5/t5-large.
TEST_CASE("layers of an encoder are told from the decoder's of the same number (T5)") {
  SafetensorsWriter w;
  w.bf16("shared.weight", {100, 64});
  const auto attention = [&](const std::string& at, const std::string& kind) {
    for (const char* name : {"q", "k", "v", "o"})
      w.bf16(at + kind + "." + name + ".weight", {64, 64});
    w.bf16(at + "layer_norm.weight", {64});
  };
  const auto feed_forward = [&](const std::string& at) {
    w.bf16(at + "DenseReluDense.wi.weight", {128, 64});
    w.bf16(at + "DenseReluDense.wo.weight", {64, 128}).bf16(at + "layer_norm.weight", {64});
  };
  for (const auto& [stack, layers] : {std::pair{"encoder", 2}, std::pair{"decoder", 3}}) {
    const std::string start = std::string(stack) + ".";
    for (int i = 0; i < layers; ++i) {
      const std::string at = start + "block." + std::to_string(i) + ".layer.";
      attention(at + "0.", "SelfAttention");
      if (i == 0) w.bf16(at + "0.SelfAttention.relative_attention_bias.weight", {32, 4});
      if (start == "decoder.") attention(at + "1.", "EncDecAttention");
      feed_forward(at + (start == "decoder." ? "2." : "1."));
    }
    w.bf16(start + "final_layer_norm.weight", {64});
  }
  const Scratch scratch;
  scratch.write("config.json", R"({"model_type": "t5", "d_model": 64, "d_kv": 16, "num_heads": 4,
      "d_ff": 128, "num_layers": 2, "num_decoder_layers": 3, "vocab_size": 100,
      "is_encoder_decoder": true, "relative_attention_num_buckets": 32})");
  const ModelSpec model = read_safetensors(scratch.write("model.safetensors", w.file()));
  CHECK(codes(model) == "");
  REQUIRE(model.layers.size() == 5);
  CHECK(model.layers[3].role == Layer::encoder);
  // The decoder's have four more matrices and one more norm.
  CHECK(elements(model.layers[1]) - elements(model.layers[4]) == 4 * 64 * 64 + 64);
  CHECK(elements(model.layers[0]) - elements(model.layers[1]) == 32 * 4);
  CHECK(resident_weights(model).n == static_cast<std::int64_t>(w.data_bytes()));
}

// Names of openai/whisper-large-v3.
TEST_CASE("layers of an encoder are told from the decoder's of the same number (Whisper)") {
  SafetensorsWriter w;
  w.bf16("model.decoder.embed_tokens.weight", {100, 64});
  w.bf16("model.decoder.embed_positions.weight", {48, 64});
  w.bf16("model.encoder.conv1.weight", {64, 8, 3}).bf16("model.encoder.conv1.bias", {64});
  w.bf16("model.encoder.conv2.weight", {64, 64, 3}).bf16("model.encoder.conv2.bias", {64});
  w.bf16("model.encoder.embed_positions.weight", {150, 64});
  const auto norm = [&](const std::string& at) {
    w.bf16(at + ".weight", {64}).bf16(at + ".bias", {64});
  };
  const auto attention = [&](const std::string& at) {
    for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      w.bf16(at + "." + name + ".weight", {64, 64});
      if (std::string(name) != "k_proj") w.bf16(at + "." + name + ".bias", {64});
    }
    norm(at + "_layer_norm");
  };
  for (const std::string stack : {"encoder", "decoder"}) {
    for (const char* layer : {"0", "1"}) {
      const std::string at = "model." + stack + ".layers." + layer + ".";
      attention(at + "self_attn");
      if (stack == "decoder") attention(at + "encoder_attn");
      w.bf16(at + "fc1.weight", {128, 64}).bf16(at + "fc1.bias", {128});
      w.bf16(at + "fc2.weight", {64, 128}).bf16(at + "fc2.bias", {64});
      norm(at + "final_layer_norm");
    }
    norm("model." + stack + ".layer_norm");
  }
  const Scratch scratch;
  scratch.write("config.json", R"({"model_type": "whisper", "vocab_size": 100, "d_model": 64,
      "is_encoder_decoder": true, "encoder_layers": 2, "decoder_layers": 2,
      "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128,
      "decoder_ffn_dim": 128, "num_mel_bins": 8, "max_source_positions": 150,
      "max_target_positions": 48})");
  const ModelSpec model = read_safetensors(scratch.write("model.safetensors", w.file()));
  CHECK(codes(model) == "");
  REQUIRE(model.layers.size() == 4);
  CHECK(elements(model.layers[0]) - elements(model.layers[2]) == 4 * 64 * 64 + 5 * 64);
  CHECK(resident_weights(model).n == static_cast<std::int64_t>(w.data_bytes()));
}

TEST_CASE("a layer far beyond the model's is refused") {
  SafetensorsWriter w = small_model();
  w.bf16("model.layers.9000000000.mlp.up_proj.weight", {1});
  CHECK_THROWS_AS(read(w), Error);
}

TEST_CASE("an index reads all its shards, from any of them or from their folder") {
  const Scratch scratch;
  scratch.write("config.json", kConfig + "}");
  SafetensorsWriter first, second;
  first.bf16("model.embed_tokens.weight", {1000, 256}).bf16("lm_head.weight", {1000, 256});
  add_layer(first, "model.layers.0.");
  add_layer(second, "model.layers.1.");
  second.bf16("model.norm.weight", {256});
  std::string map;
  const auto name_all = [&](const std::string& prefix, const std::string& file) {
    for (const char* module : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                               "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
                               "input_layernorm", "post_attention_layernorm"})
      map += "\"" + prefix + module + ".weight\": \"" + file + "\",\n";
  };
  const std::string one = "model-00001-of-00002.safetensors",
                    two = "model-00002-of-00002.safetensors";
  name_all("model.layers.0.", one);
  name_all("model.layers.1.", two);
  const std::string ends = "\"model.embed_tokens.weight\": \"" + one +
                           "\", \"lm_head.weight\": \"" + one + "\", \"model.norm.weight\": \"" +
                           two + "\"";
  const auto bytes = first.data_bytes() + second.data_bytes();
  const auto write_index = [&](const std::string& extra, std::uint64_t total) {
    return scratch.write("model.safetensors.index.json",
                         "{\"metadata\": {\"total_size\": " + std::to_string(total) +
                             "}, \"weight_map\": {" + map + ends + extra + "}}");
  };
  const std::string index = write_index("", bytes);
  scratch.write(one, first.file());
  scratch.write(two, second.file());
  for (const std::string& path : {index, scratch.folder(), scratch.path(one), scratch.path(two)}) {
    const ModelSpec model = read_safetensors(path);
    CHECK(codes(model) == "");
    CHECK(resident_weights(model).n == static_cast<std::int64_t>(bytes));
  }

  SUBCASE("a missing shard is named, and the configuration's weights stay") {
    std::filesystem::remove(scratch.path(two));
    const ModelSpec model = read_safetensors(index);
    CHECK(codes(model) == "missing-shards ");
    CHECK(message(model, "missing-shards").find("1 of 2 files") != std::string::npos);
    CHECK(count_parameters(model).total == 2 * kLayer + 2 * 256'000 + 256);
  }
  SUBCASE("tensors of the index alone, of the files alone, and another total are named") {
    write_index(", \"ghost.weight\": \"" + two + "\"", bytes + 1);
    second.bf16("mystery.weight", {8});
    scratch.write(two, second.file());
    const ModelSpec model = read_safetensors(index);
    CHECK(message(model, "absent-tensors").find("'ghost.weight'") != std::string::npos);
    CHECK(message(model, "extra-tensors").find("'mystery.weight'") != std::string::npos);
    CHECK(message(model, "index-size-differs").find(std::to_string(bytes + 16)) !=
          std::string::npos);
  }
  SUBCASE("a tensor in two shards, a name that leads elsewhere and a broken index are refused") {
    second.bf16("lm_head.weight", {1000, 256});
    scratch.write(two, second.file());
    CHECK_THROWS_AS(read_safetensors(index), Error);
    for (const std::string file : {"../elsewhere.safetensors", "/etc/passwd", "", ".hidden"}) {
      write_index(", \"x\": \"" + file + "\"", bytes);
      CHECK_THROWS_AS(read_safetensors(index), Error);
    }
    for (const std::string text :
         {"", "[]", "{}", "{\"weight_map\": []}", "{\"weight_map\": {\"a\": 1}}",
          "{\"weight_map\": {\"a\": \"b\", \"a\": \"b\"}}"}) {
      scratch.write("model.safetensors.index.json", text);
      CHECK_THROWS_AS(read_safetensors(index), Error);
    }
  }
}

TEST_CASE("without a configuration there is a table of tensors, but no model") {
  const Scratch scratch;
  const std::string path = scratch.write("model.safetensors", small_model().file());
  CHECK(read_safetensors_tensors(path).parameters() == 2 * kLayer + 2 * 256'000 + 256);
  CHECK_THROWS_AS(read_safetensors(path), Error);
  CHECK_THROWS_AS(read_safetensors(scratch.path("absent.safetensors")), Error);
  scratch.write("config.json", "{\"model_type\": \"llama\"");
  try {
    read_safetensors(path);
    FAIL("the configuration is broken");
  } catch (const Error& e) {
    CHECK(e.file == scratch.path("config.json"));
  }
}

TEST_CASE("a table of tensors tells prediction layers and towers from the main model") {
  SafetensorsWriter w = small_model();
  add_layer(w, "model.layers.2.");
  w.bf16("vision_tower.encoder.layers.7.self_attn.q_proj.weight", {64, 64});
  const Scratch scratch;
  const std::string path = scratch.write("model.safetensors", w.file());
  const auto parameters_of = [&](TensorPlace::Section section) {
    std::int64_t sum = 0;
    for (const TensorGroup& g : group_tensors(read_safetensors_tensors(path)))
      if (g.section == section) sum += g.parameters;
    return sum;
  };
  CHECK(parameters_of(TensorPlace::mtp) == 0);  // nothing says where the main model ends
  scratch.write("config.json", kConfig + "}");
  CHECK(parameters_of(TensorPlace::main) == 2 * kLayer + 2 * 256'000 + 256);
  CHECK(parameters_of(TensorPlace::mtp) == kLayer);
  CHECK(parameters_of(TensorPlace::vision) == 64 * 64);
}

TEST_CASE("several files without an index, or none, are refused") {
  const Scratch scratch;
  CHECK_THROWS_AS(read_safetensors_tensors(scratch.folder()), Error);
  scratch.write("a.safetensors", small_model().file());
  CHECK_NOTHROW(read_safetensors_tensors(scratch.folder()));
  scratch.write("b.safetensors", small_model().file());
  CHECK_THROWS_AS(read_safetensors_tensors(scratch.folder()), Error);
}
