// SPDX-License-Identifier: Apache-2.0
// Recipes: which tensor gets which format, and bits per weight as llama.cpp's manual prints them.
#include "model/recipe.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "catalog/catalog.h"
#include "model/average.h"
#include "model/file_type.h"
#include "model/parameters.h"

using namespace kvplan;

namespace {

const Catalog& catalog() {
  static const Catalog shared;
  return shared;
}

double bits_per_weight(const ModelSpec& model) {
  return resident_weights(model).real() * 8 / static_cast<double>(count_parameters(model).total);
}

std::string refusal(std::string_view recipe) {
  try {
    (void)apply_recipe(catalog().model("llama-3.1-8b"), recipe);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

std::string_view format_in(const ModelSpec& model, std::size_t layer, std::string_view name) {
  for (const Weight& w : model.layers.at(layer).weights)
    if (w.name == name) return w.format->name;
  return "none";
}

}  // namespace

// ggml-org/llama.cpp, tools/quantize/README.md: bits per weight of Llama-3.1-8B, to four digits.
TEST_CASE(
    "every file type of Llama 3.1 8B has the bits per weight that llama.cpp's manual prints") {
  struct Printed {
    const char* type;
    double bits;
  };
  const Printed printed[] = {
      {"iq1_s", 2.0042},  {"iq1_m", 2.1460},  {"iq2_xxs", 2.3824}, {"iq2_xs", 2.5882},
      {"iq2_s", 2.7403},  {"iq2_m", 2.9294},  {"iq3_xxs", 3.2548}, {"iq3_xs", 3.4977},
      {"iq3_s", 3.6606},  {"iq3_m", 3.7628},  {"q2_k_s", 2.9697},  {"q2_k", 3.1593},
      {"q3_k_s", 3.6429}, {"q3_k_l", 4.2979}, {"q4_k_s", 4.6672},  {"q4_k_m", 4.8944},
      {"q5_k_s", 5.5704}, {"q5_k_m", 5.7036}, {"q6_k", 6.5633},    {"q8_0", 8.5008}};
  const ModelSpec model = catalog().model("llama-3.1-8b");
  for (const auto& [type, bits] : printed) {
    CAPTURE(type);
    CHECK(std::abs(bits_per_weight(apply_recipe(model, type)) - bits) < 0.00006);
  }
  // Printed without an importance matrix, which would save the 5 bits of the first down
  // projections: four layers of 14336 x 4096 numbers in iq4_xs (4.25 bits) or iq4_nl (4.5) instead
  // of q5_k (5.5).
  const double first_down = 4.0 * 14336 * 4096 / 8'030'261'248.0;
  CHECK(std::abs(bits_per_weight(apply_recipe(model, "iq4_xs")) + first_down * 1.25 - 4.4597) <
        0.00006);
  CHECK(std::abs(bits_per_weight(apply_recipe(model, "iq4_nl")) + first_down * 1.0 - 4.6818) <
        0.00006);
}

TEST_CASE("layers, grouped heads, 70 B and eight experts get bits of their own") {
  const ModelSpec small = apply_recipe(catalog().model("llama-3-8b"), "q3_k_m");
  CHECK(format_in(small, 1, "self_attn.v_proj") == "q5_k");
  CHECK(format_in(small, 2, "self_attn.v_proj") == "q4_k");
  CHECK(format_in(small, 1, "mlp.down_proj") == "q5_k");
  CHECK(format_in(small, 2, "mlp.down_proj") == "q4_k");
  const ModelSpec large = apply_recipe(catalog().model("llama-3-70b"), "q3_k_m");
  CHECK(format_in(large, 40, "self_attn.v_proj") == "q5_k");
  CHECK(format_in(large, 4, "mlp.down_proj") == "q5_k");
  CHECK(format_in(large, 5, "mlp.down_proj") == "q4_k");
  const ModelSpec mha = apply_recipe(catalog().model("llama-2-7b"), "q2_k");
  CHECK(format_in(mha, 0, "self_attn.v_proj") == "q3_k");
  const ModelSpec experts = apply_recipe(catalog().model("mixtral-8x7b"), "q4_k_m");
  CHECK(format_in(experts, 9, "self_attn.v_proj") == "q8_0");
  CHECK(format_in(experts, 9, "self_attn.k_proj") == "q8_0");
  CHECK(format_in(experts, 9, "self_attn.o_proj") == "q5_k");
}

// 61 main layers and one that drafts: the last eighth begins at 7 * 61 / 8 = 53.
TEST_CASE("layers are counted without those that predict further tokens") {
  const ModelSpec model = apply_recipe(catalog().model("deepseek-v3"), "q4_k_m");
  REQUIRE(model.layers.size() == 62);
  CHECK(format_in(model, 53, "mlp.experts.*.down_proj") == "q6_k");
  CHECK(format_in(model, 52, "mlp.experts.*.down_proj") == "q4_k");
}

TEST_CASE("rows that do not fill a block are stored in another format") {
  const ModelSpec model = apply_recipe(catalog().model("qwen2.5-0.5b"), "q4_k_m");  // 896 wide
  CHECK(format_in(model, 9, "self_attn.q_proj") == "q5_0");
  CHECK(format_in(model, 0, "mlp.down_proj") == "q6_k");  // 4864 wide
  CHECK(format_in(model, 0, "self_attn.v_proj") == "q8_0");
}

// The quantiser takes one product for queries, keys and values like values (attn_qkv); the gate and
// the output of a delta net are like any other matrix.
TEST_CASE("delta nets are quantised by the names that their tensors have in a GGUF file") {
  const ModelSpec model = apply_recipe(catalog().model("qwen3.5-27b"), "q4_k_m");
  CHECK(format_in(model, 0, "linear_attn.in_proj_qkv") == "q6_k");
  CHECK(format_in(model, 8, "linear_attn.in_proj_qkv") == "q4_k");
  CHECK(format_in(model, 0, "linear_attn.in_proj_z") == "q4_k");
  CHECK(format_in(model, 0, "linear_attn.out_proj") == "q4_k");
  CHECK(format_in(model, 0, "linear_attn.conv1d") == "fp32");
  const ModelSpec small = apply_recipe(catalog().model("qwen3.5-27b"), "iq4_xs");
  CHECK(format_in(small, 30, "linear_attn.in_proj_qkv") == "q5_k");
}

// As llama.cpp's quantiser (commit 0c1e570, October 2026) treats small files of these families.
TEST_CASE("what the quantiser counts and leaves alone") {
  // Latents' up-projections are cut by heads, as experts are cut by expert.
  const ModelSpec latent = apply_recipe(catalog().model("deepseek-v3"), "mxfp4_moe");
  CHECK(format_in(latent, 0, "self_attn.k_b_proj") == "mxfp4");
  CHECK(format_in(latent, 0, "self_attn.v_b_proj") == "mxfp4");
  CHECK(format_in(latent, 0, "self_attn.kv_a_proj_with_mqa") == "q8_0");
  // A first layer without heads: no grouped ones, whatever the others have.
  const ModelSpec hybrid = apply_recipe(catalog().model("nemotron-h-56b"), "q2_k");
  for (std::size_t i = 0; i < hybrid.layers.size(); ++i)
    for (const Weight& w : hybrid.layers[i].weights)
      if (w.name.ends_with("v_proj")) CHECK(w.format->name == "q3_k");
  const ModelSpec kept = apply_recipe(catalog().model("gemma-3n-e2b"), "q4_k_m");
  CHECK(format_in(kept, 3, "laurel.linear_left") == "fp16");
  CHECK(format_in(kept, 3, "altup.prediction_coefs") == "fp32");
  CHECK(format_in(kept, 3, "altup.modality_router") == "fp16");
}

// Of n down projections the first and last eighths of all n layers, counted one by one.
TEST_CASE("down projections are counted where layers lack them") {
  const ModelSpec model = apply_recipe(catalog().model("nemotron-h-56b"), "q4_k_m");
  const auto layers = static_cast<std::int64_t>(main_layers(model).size());
  std::int64_t i = 0;
  for (const Layer& layer : model.layers)
    for (const Weight& w : layer.weights) {
      if (!w.is_matrix || !w.name.ends_with("down_proj")) continue;
      const bool more = i < layers / 8 || i >= 7 * layers / 8 || (i - layers / 8) % 3 == 2;
      CHECK(w.format->name == (more ? "q6_k" : "q4_k"));
      ++i;
    }
  CHECK(i > 40);
}

TEST_CASE("the larger types have their table and their head in q8_0") {
  for (const auto& [large, plain] :
       {std::pair{"q4_k_l", "q4_k_m"}, std::pair{"q3_k_xl", "q3_k_l"}}) {
    const ModelSpec model = apply_recipe(catalog().model("llama-3.1-8b"), large);
    const ModelSpec other = apply_recipe(catalog().model("llama-3.1-8b"), plain);
    for (const Weight& w : model.ends)
      if (w.columns > 1) CHECK(w.format->name == "q8_0");
    CHECK(format_in(model, 3, "mlp.down_proj") == format_in(other, 3, "mlp.down_proj"));
    CHECK(format_in(model, 3, "self_attn.v_proj") == format_in(other, 3, "self_attn.v_proj"));
  }
}

TEST_CASE("a recipe replaces a format together with its scales") {
  ModelSpec model = catalog().model("llama-3.1-8b");
  const std::int64_t before = count_parameters(model).total;
  Weight scale = model.layers[0].weights[0];
  scale.is_auxiliary = true;
  model.layers[0].weights.push_back(scale);
  Weight table = scale;
  table.name = "index_table";
  table.format = &format_named("int32");
  model.layers[0].weights.push_back(table);
  for (const char* recipe : {"q4_k_m", "bf16", "int4-g128,norm=fp32"}) {
    const ModelSpec other = apply_recipe(model, recipe);
    CHECK(other.layers[0].weights.size() + 1 == model.layers[0].weights.size());
    CHECK(other.layers[0].weights.back().format->name == "int32");
    CHECK(count_parameters(other).total == before);
  }
  CHECK(apply_recipe(model, "config").layers[0].weights.size() == model.layers[0].weights.size());
}

TEST_CASE("formats of caches and of tables are no weights, and unknown ones are named") {
  for (const char* format : {"int8-head", "fp8-g128", "fp8-row8", "int32", "bf16,head=int8-head"})
    CHECK(refusal(format).find("weights cannot have") == 0);
  CHECK(refusal("q4_k_x").find("unknown weight format") == 0);
  for (const char* mix : {"UD-Q4_K_XL", "Q4_K_XL", "q2_k_xl"})
    CHECK(refusal(mix).find("vendor's own") != std::string::npos);
  CHECK(refusal("bf16,king=fp8").find("ROLE=FORMAT") != std::string::npos);
  for (const std::string_view name : recipe_names()) CHECK(refusal(name) == "none");
}

TEST_CASE("every name of a recipe stands once") {
  auto names = recipe_names();
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

// Sizes of bartowski/Meta-Llama-3.1-8B-Instruct-GGUF: a mix known by its file alone.
TEST_CASE("weights known by the size of their file take as much, whatever the mix") {
  const ModelSpec model = catalog().model("llama-3.1-8b");
  for (const std::int64_t size : {4'920'000'000LL, 3'180'000'000LL, 8'540'000'000LL}) {
    const std::string recipe = average_recipe(model, Bytes(size));
    CAPTURE(recipe);
    const double taken = resident_weights(apply_recipe(model, recipe)).real();
    CHECK(taken == doctest::Approx(static_cast<double>(size)).epsilon(0.0005));
  }
}

// 8,030,261,248 parameters, of which 266,240 in norms: (4.65 x 8,029,995,008 + 16 x 266,240) / 8.
TEST_CASE("an average width is that of every matrix, and exceptions replace it") {
  const ModelSpec model = apply_recipe(catalog().model("llama-3.1-8b"), "4.65bpw");
  CHECK(resident_weights(model).n == doctest::Approx(4'667'967'078).epsilon(1e-6));
  CHECK(format_in(model, 0, "self_attn.q_proj") == "4.650bpw");
  CHECK(weights_by_role(model).front().format->name == "4.650bpw");
  const ModelSpec copy = apply_recipe(catalog().model("llama-3.1-8b"), "4.65bpw,attention=q8_0");
  CHECK(format_in(copy, 0, "self_attn.q_proj") == "q8_0");
  CHECK(format_in(copy, 0, "mlp.up_proj") == "4.650bpw");
}

TEST_CASE("a width or a size that no weights have is refused") {
  for (const char* recipe : {"0.5bpw", "17bpw", "bpw", "-4bpw", "4.6.5bpw", "nanbpw", "4e0bpw"}) {
    CAPTURE(recipe);
    CHECK(refusal(recipe).find("is no average width") != std::string::npos);
  }
  const ModelSpec model = catalog().model("llama-3.1-8b");
  for (const std::int64_t size : {std::int64_t(0), std::int64_t(500'000), std::int64_t(400) << 30})
    CHECK_THROWS_WITH(average_recipe(model, Bytes(size)), doctest::Contains("in 1 to 16 bits"));
}
