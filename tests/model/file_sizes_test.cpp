// SPDX-License-Identifier: Apache-2.0
// Recipes against the sizes of published files, to the last digit that their pages print.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "catalog/catalog.h"
#include "engine/logged_shape.h"
#include "model/parameters.h"
#include "model/recipe.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

// Half of the last digit that a number is written with: "18.641" → 0.0005.
double half_digit(const std::string& text) {
  const auto point = text.find('.');
  const auto digits = point == text.npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(digits));
}

// Numbers in the down projections of the first eighth of the layers.
double first_down(const ModelSpec& model) {
  const auto layers = main_layers(model);
  double numbers = 0;
  for (std::size_t i = 0; i < layers.size() / 8; ++i)
    for (const Weight& w : layers[i]->weights)
      if (w.name.ends_with("down_proj")) numbers += static_cast<double>(w.elements());
  return numbers;
}

// Files from before ggml-org/llama.cpp#12801: under another name the recipe does not cut it.
void keep_latents_whole(ModelSpec& model) {
  for (Layer& layer : model.layers)
    for (Weight& w : layer.weights)
      if (w.name == "self_attn.kv_b_proj") w.name = "self_attn.whole_kv_b";
}

// The model's file; a tower is a file of its own.
ModelSpec model_of(const Catalog& catalog, const Node& row, const std::string& type) {
  ModelSpec model = catalog.model(text_at(row, "model"));
  model.vision.clear();
  if (row.find("whole_latents")) keep_latents_whole(model);
  for (Weight& w : model.ends)
    if (w.role != Role::norm) w.rows = integer_at(row, "vocabulary", w.rows);
  const std::string also = text_at(row, "also");
  return apply_recipe(std::move(model), also.empty() ? type : type + "," + also);
}

double bytes_of(const Catalog& catalog, const Node& row, const std::string& type) {
  const ModelSpec model = model_of(catalog, row, type);
  const Node* more = row.find("first_down_bits");
  const Node* bits = more ? more->find(type) : nullptr;
  return resident_weights(model).real() +
         (bits ? first_down(model) * bits->number().value_or(0) / 8 : 0);
}

}  // namespace

TEST_CASE("published files of llama.cpp's file types have the size that their recipe predicts") {
  constexpr double kMostBeside = 0.016;  // GB of vocabulary and keys in a file
  const Catalog catalog;
  std::size_t compared = 0;
  for (const Node& row : truth_rows("file_sizes.yaml")) {
    CAPTURE(text_at(row, "source"));
    for (const bool file : {false, true})
      if (const Node* sizes = row.find(file ? "gb" : "gib"))
        for (const auto& [type, size] : sizes->members) {
          const double unit = file ? 1e9 : static_cast<double>(kGiB);
          const double beyond = size.number().value_or(0) - bytes_of(catalog, row, type) / unit;
          CAPTURE(type);
          CAPTURE(size.text);
          const double least = row.find("cut") ? 2 * half_digit(size.text) : half_digit(size.text);
          CHECK(beyond >= -least * 1.0001);
          CHECK(beyond <= half_digit(size.text) * 1.0001 + (file ? kMostBeside : 0));
          ++compared;
        }
  }
  CHECK(compared >= 60);
}

// DeepSeek-V3: 61 layers of 128 heads, latent 512, 128 + 128 numbers of a head made from it. Rows
// of 128 do not fill blocks of 256: keys go to q5_0 (22 bytes per 32) where values have q4_k (144
// per 256), and to q8_0 (34) beside q6_k (210). Nothing changes where blocks have 32 numbers.
TEST_CASE("a latent's up-projection is stored in two halves, of which keys' rows are short") {
  const Catalog catalog;
  const auto bytes = [&](std::string_view type, bool whole) {
    ModelSpec model = catalog.model("deepseek-v3");
    if (whole) keep_latents_whole(model);
    model = apply_recipe(std::move(model), type);
    std::int64_t sum = 0;
    for (const Layer* layer : main_layers(model))
      for (const Weight& w : layer->weights)
        if (w.name == "self_attn.whole_kv_b" || w.name == "self_attn.k_b_proj" ||
            w.name == "self_attn.v_b_proj")
          sum += (stored_bytes(*w.format, w.rows, w.columns) * w.copies).n;
    return sum;
  };
  constexpr std::int64_t kHalf = 61LL * 128 * 512 * 128;
  CHECK(bytes("q4_k_m", true) == 2 * kHalf / 256 * 144);
  CHECK(bytes("q4_k_m", false) == kHalf / 32 * 22 + kHalf / 256 * 144);
  CHECK(bytes("q6_k", false) == kHalf / 32 * 34 + kHalf / 256 * 210);
  CHECK(bytes("q8_0", false) == bytes("q8_0", true));
  // MiniCPM3's converter leaves it whole.
  const ModelSpec whole = apply_recipe(catalog.model("minicpm3-4b"), "q4_k_m");
  for (const Layer* layer : main_layers(whole))
    for (const Weight& w : layer->weights) CHECK(w.name != "self_attn.k_b_proj");
}
