// SPDX-License-Identifier: Apache-2.0
// Encoders in GGUF files: beside a decoder (T5), and alone (BERT).
#include <doctest/doctest.h>

#include <string>

#include "catalog/gguf.h"
#include "catalog/gguf_models.h"
#include "catalog/huggingface.h"
#include "catalog/scratch.h"
#include "cost/decode.h"
#include "model/cache.h"
#include "model/parameters.h"
#include "model/recipe.h"

using namespace kvplan;
using namespace kvplan::testing;

namespace {

constexpr std::uint32_t kF32 = 0, kF16 = 1;

const std::string kFlanT5Base =
    R"({"model_type": "t5", "d_model": 768, "d_ff": 2048, "d_kv": 64, "num_layers": 12,
        "num_decoder_layers": 12, "num_heads": 12, "vocab_size": 32128, "n_positions": 512,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})";

Keys t5_keys(std::uint32_t encoder, std::uint32_t decoder) {
  Keys keys = {{"block_count", encoder},       {"context_length", 512},
               {"embedding_length", 768},      {"feed_forward_length", 2048},
               {"attention.head_count", 12},   {"attention.key_length", 64},
               {"attention.value_length", 64}, {"attention.relative_buckets_count", 32},
               {"decoder_start_token_id", 0},  {"vocab_size", 32128}};
  if (decoder != encoder) keys.emplace_back("decoder_block_count", decoder);
  return keys;
}

void matrix(GgufWriter& w, const std::string& name, std::uint64_t columns, std::uint64_t rows) {
  w.tensor(name + ".weight", {columns, rows}, kF16, columns * rows * 2);
}
void vector(GgufWriter& w, const std::string& name, std::uint64_t n) {
  w.tensor(name + ".weight", {n}, kF32, n * 4);
}

void add_block(GgufWriter& w, const std::string& stack, int i) {
  const std::string block = stack + ".blk." + std::to_string(i) + ".";
  const bool decoder = stack == "dec";
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_o"})
    matrix(w, block + name, 768, 768);
  if (i == 0) matrix(w, block + "attn_rel_b", 12, 32);
  if (decoder) {
    for (const char* name : {"cross_attn_q", "cross_attn_k", "cross_attn_v", "cross_attn_o"})
      matrix(w, block + name, 768, 768);
    vector(w, block + "cross_attn_norm", 768);
  }
  vector(w, block + "attn_norm", 768);
  vector(w, block + "ffn_norm", 768);
  matrix(w, block + "ffn_gate", 768, 2048);
  matrix(w, block + "ffn_up", 768, 2048);
  matrix(w, block + "ffn_down", 2048, 768);
}

// The names of llama.cpp's src/llama-arch.cpp.
GgufWriter flan_t5_base() {
  GgufWriter w;
  w.text("general.architecture", "t5");
  for (const auto& [key, value] : t5_keys(12, 12)) w.u32("t5." + key, value);
  matrix(w, "token_embd", 768, 32128);
  matrix(w, "output", 768, 32128);
  for (int i = 0; i < 12; ++i) add_block(w, "enc", i);
  for (int i = 0; i < 12; ++i) add_block(w, "dec", i);
  vector(w, "enc.output_norm", 768);
  vector(w, "dec.output_norm", 768);
  return w;
}

}  // namespace

TEST_CASE("an encoder and its decoder are the same (T5, decoders shorter and longer too)") {
  check_same(file_of("t5", t5_keys(12, 12)), kFlanT5Base);
  for (const std::uint32_t decoder : {2u, 20u}) {
    std::string config = kFlanT5Base;
    const std::string key = "\"num_decoder_layers\": 12";
    config.replace(config.find(key), key.size(),
                   "\"num_decoder_layers\": " + std::to_string(decoder));
    check_same(file_of("t5", t5_keys(12, decoder)), config);
  }
}

// 247,577,856 parameters: google/flan-t5-base's safetensors total.
TEST_CASE("a T5 file holds its published parameters, in the layers they belong to") {
  const GgufWriter w = flan_t5_base();
  const Scratch scratch;
  const ModelSpec stored = read_gguf(scratch.write("m.gguf", w.head(), w.data_bytes()));
  CHECK(stored.warnings.empty());
  CHECK(count_parameters(stored).total == 247'577'856);
  CHECK(resident_weights(stored).n == static_cast<std::int64_t>(w.data_bytes()));
  const ModelSpec configured = read_huggingface(parse_json(kFlanT5Base));
  REQUIRE(stored.layers.size() == configured.layers.size());
  for (std::size_t i = 0; i < stored.layers.size(); ++i) {
    CHECK(stored.layers[i].role == configured.layers[i].role);
    std::int64_t ours = 0, theirs = 0;
    for (const Weight& x : stored.layers[i].weights) ours += x.elements();
    for (const Weight& x : configured.layers[i].weights) theirs += x.elements();
    CHECK(ours == theirs);
  }
}

// Of 12 decoder layers the 8 square matrices but those of keys and values of the source, and the
// feed-forward's three; and the head. From a file as from a configuration.
TEST_CASE("a step reads no matrix that a request needs but once, and nothing of the encoder") {
  const GgufWriter w = flan_t5_base();
  const Scratch scratch;
  const ModelSpec stored = read_gguf(scratch.write("m.gguf", w.head(), w.data_bytes()));
  const ModelSpec configured = apply_recipe(read_huggingface(parse_json(kFlanT5Base)), "fp16");
  constexpr std::int64_t kMatrices = 12LL * (6 * 768 * 768 + 3 * 768 * 2048) + 768LL * 32128;
  DeviceSpec device;
  device.bandwidth.value = BytesPerSecond(1e12);
  for (const ModelSpec* model : {&stored, &configured}) {
    const Bytes read = DecodeModel(*model, {}, device).at(Tokens(100), 1).weight_bytes;
    CHECK(read.n >= 2 * kMatrices);
    CHECK(read.n < 2 * kMatrices + 500'000);  // norms, positions, a row of the table
  }
}

TEST_CASE("BERT has layers and no cache, from its file as from its configuration") {
  GgufWriter w = file_of("bert", {{"block_count", 12},
                                  {"context_length", 512},
                                  {"embedding_length", 768},
                                  {"feed_forward_length", 3072},
                                  {"attention.head_count", 12},
                                  {"pooling_type", 2}});
  w.boolean("bert.attention.causal", false);
  const ModelSpec model = read(w);
  CHECK(model.warnings.empty());
  CHECK(model.layers.size() == 12);
  for (const Layer& layer : model.layers) {
    CHECK(layer.role == Layer::main);  // a prompt passes them
    CHECK_FALSE(layer.mixer.causal);
  }
  // gpustack/gguf-parser-go#2, gpustack/gpustack#2412: 9.9 and 13.8 GiB were estimated for such
  // files as if they kept a cache; less than one was used.
  CHECK(cache_groups(model, cache_formats("f16")).empty());
}

TEST_CASE("a diffusion model's file says that it decodes otherwise, as its configuration does") {
  for (const char* architecture : {"dream", "llada", "llada-moe", "rnd1"}) {
    CAPTURE(architecture);
    GgufWriter w = file_of(architecture, {{"block_count", 2},
                                          {"embedding_length", 256},
                                          {"attention.head_count", 8},
                                          {"attention.head_count_kv", 2}});
    w.boolean(std::string(architecture) + ".attention.causal", false);
    const ModelSpec model = read(w);
    REQUIRE(model.warnings.size() == 1);
    CHECK(model.warnings[0].code == "diffusion");
  }
}

// Grouped heads as in EuroBERT; the file says nothing about being an encoder.
TEST_CASE("encoders of other families keep no cache and generate nothing") {
  for (const char* name : {"eurobert", "jina-bert-v2", "llama-embed", "neo-bert", "nomic-bert"}) {
    CAPTURE(name);
    const ModelSpec model = read(file_of(name, {{"block_count", 12},
                                                {"embedding_length", 768},
                                                {"feed_forward_length", 3072},
                                                {"attention.head_count", 12},
                                                {"attention.head_count_kv", 4},
                                                {"context_length", 8192}}));
    CHECK(model.layers.size() == 12);
    CHECK_FALSE(generates(model));
    CHECK(cache_groups(model, cache_formats("f16")).empty());
  }
}
