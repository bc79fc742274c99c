// SPDX-License-Identifier: Apache-2.0
// A file written as a recipe says weighs what the recipe predicts: what a model is by its
// configuration is what it is by the tensors of its GGUF file.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "catalog/catalog.h"
#include "catalog/gguf.h"
#include "catalog/gguf/types.h"
#include "catalog/gguf_writer.h"
#include "catalog/scratch.h"
#include "engine/llamacpp/tensor_names.h"
#include "model/cache.h"
#include "model/parameters.h"
#include "model/recipe.h"

using namespace kvplan;
using testing::GgufWriter;
using testing::Scratch;

namespace {

std::uint32_t type_of(const Format& format) {
  for (const GgmlType& type : ggml_types())
    if (type.format == format.name) return type.id;
  FAIL("no ggml type stores " << format.name);
  return 0;
}

void add(GgufWriter& writer, const std::string& name, const Weight& w) {
  std::vector<std::uint64_t> sizes;
  if (w.columns > 1) sizes.push_back(static_cast<std::uint64_t>(w.columns));
  sizes.push_back(static_cast<std::uint64_t>(w.rows));
  if (w.copies > 1) sizes.push_back(static_cast<std::uint64_t>(w.copies));
  const Bytes bytes = payload_bytes(*w.format, w.columns > 1 ? w.rows * w.copies : w.copies,
                                    w.columns > 1 ? w.columns : w.rows);
  writer.tensor(name, sizes, type_of(*w.format), static_cast<std::uint64_t>(bytes.n));
}

std::string name_in_block(const Weight& w, std::size_t layer, std::size_t number) {
  const std::string known = llamacpp::tensor_name(w, layer);
  if (!known.empty()) return known;
  REQUIRE(w.role == Role::norm);
  return "blk." + std::to_string(layer) + ".norm_" + std::to_string(number) + ".weight";
}

std::string name_of_end(const Weight& w) {
  if (w.role == Role::embedding) return "token_embd.weight";
  return w.role == Role::head ? "output.weight" : "output_norm.weight";
}

GgufWriter file_of(const ModelSpec& model, const std::string& architecture) {
  GgufWriter writer;
  const auto number = [&](const char* key, std::int64_t n) {
    writer.u32(architecture + "." + key, static_cast<std::uint32_t>(n));
  };
  writer.text("general.architecture", architecture);
  number("block_count", static_cast<std::int64_t>(model.layers.size()));
  number("embedding_length", model.hidden);
  if (const auto* a = std::get_if<Attention>(&model.layers[0].mixer.kind)) {
    number("attention.head_count", a->heads);
    number("attention.head_count_kv", a->kv_heads);
    number("attention.key_length", a->k_width);
    number("attention.value_length", a->v_width);
  } else {
    const auto& l = std::get<Latent>(model.layers[0].mixer.kind);
    number("attention.head_count", l.heads);
    number("attention.head_count_kv", 1);
    number("attention.kv_lora_rank", l.latent);
    number("attention.key_length_mla", l.nope + l.rope);
    number("attention.value_length_mla", l.v_width);
    number("rope.dimension_count", l.rope);
  }
  if (architecture == "gemma2") number("attention.sliding_window", 4096);
  for (const Weight& w : model.layers.back().weights)
    if (w.role == Role::routed_expert && w.name.ends_with("down_proj")) {
      number("expert_count", w.copies);
      number("expert_used_count", w.active);
    }
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    for (std::size_t k = 0; k < model.layers[i].weights.size(); ++k) {
      const Weight& w = model.layers[i].weights[k];
      add(writer, name_in_block(w, i, k), w);
    }
  for (const Weight& w : model.ends) add(writer, name_of_end(w), w);
  return writer;
}

std::map<Role, std::int64_t> bytes_by_role(const ModelSpec& model) {
  std::map<Role, std::int64_t> bytes;
  for (const RoleBytes& role : weights_by_role(model)) bytes[role.role] = role.bytes.n;
  return bytes;
}

}  // namespace

TEST_CASE("a file written as a recipe says weighs what the recipe predicts, role by role") {
  const Catalog catalog;
  for (const auto& [name, architecture] :
       {std::pair{"llama-3.1-8b", "llama"}, std::pair{"qwen2.5-7b", "qwen2"},
        std::pair{"qwen3-8b", "qwen3"}, std::pair{"qwen3-30b-a3b", "qwen3moe"},
        std::pair{"mixtral-8x7b", "llama"}, std::pair{"gemma-2-9b", "gemma2"},
        std::pair{"deepseek-v2-lite", "deepseek2"}})
    for (const char* recipe : {"q4_k_m", "q6_k", "iq3_xs", "q3_k_xl", "mxfp4_moe"}) {
      CAPTURE(name);
      CAPTURE(recipe);
      const ModelSpec model = apply_recipe(catalog.model(name), recipe);
      const GgufWriter writer = file_of(model, architecture);
      const Scratch scratch;
      const ModelSpec stored =
          read_gguf(scratch.write("model.gguf", writer.head(), writer.data_bytes()));
      CHECK(resident_weights(stored) == resident_weights(model));
      CHECK(bytes_by_role(stored) == bytes_by_role(model));
      CHECK(count_parameters(stored).total == count_parameters(model).total);
      CHECK(count_parameters(stored).active == count_parameters(model).active);
      CHECK(stored.tied_head == model.tied_head);
      const CacheFormats f16 = cache_formats("f16");
      CHECK(growth_per_token(cache_groups(stored, f16)) ==
            growth_per_token(cache_groups(model, f16)));
    }
}
