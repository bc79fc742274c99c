// SPDX-License-Identifier: Apache-2.0
#include "model/average.h"

#include <charconv>
#include <cmath>

#include "model/spec.h"

namespace kvplan {
namespace {

constexpr std::int64_t kLeast = 1000, kMost = 16000;  // thousandths of a bit

std::string name_of(std::int64_t millibits) {
  std::string digits = std::to_string(millibits % 1000);
  digits.insert(0, 3 - digits.size(), '0');
  return std::to_string(millibits / 1000) + "." + digits + "bpw";
}

// What a recipe of one format gives it (model/recipe.cpp), and the elements of the rest.
struct Elements {
  std::int64_t matrices = 0, vectors = 0;
};

void count(const std::vector<Weight>& weights, Elements& sum) {
  for (const Weight& w : weights) {
    if (w.is_auxiliary) continue;
    const bool is_matrix = w.columns > 1 && w.role != Role::router;
    std::int64_t& kind = is_matrix ? sum.matrices : sum.vectors;
    kind = checked_add(kind, w.elements());
  }
}

}  // namespace

std::shared_ptr<const OwnFormat> average_format(std::string_view recipe) {
  constexpr std::string_view kUnit = "bpw";
  if (!recipe.ends_with(kUnit)) return nullptr;
  const std::string_view digits = recipe.substr(0, recipe.size() - kUnit.size());
  double bits = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bits, std::chars_format::fixed);
  if (failure != std::errc() || end != digits.data() + digits.size()) return nullptr;
  if (!(bits * 1000 >= kLeast && bits * 1000 <= kMost)) return nullptr;
  auto own = std::make_shared<OwnFormat>();
  const auto millibits = static_cast<std::int32_t>(std::lround(bits * 1000));
  own->name = name_of(millibits);
  own->format.name = own->name;
  own->format.precision = Precision::int8;  // as blocks of GGUF, of which most such mixes are
  own->format.bits = bits;
  own->format.mean_millibits = millibits;
  return own;
}

std::string average_recipe(const ModelSpec& model, Bytes file) {
  Elements all;
  for (const Layer& layer : model.layers)
    if (layer.role != Layer::mtp) count(layer.weights, all);
  count(model.ends, all);
  const Bytes matrices = file - Bytes(checked_mul(all.vectors, 2));
  const std::int64_t millibits =
      matrices.n <= 0 || all.matrices == 0 ? 0 : mul_div(matrices.n, 8000, all.matrices);
  if (millibits < kLeast || millibits > kMost)
    throw Error("a file of this size has no weights of " + model.name + " in 1 to 16 bits")
        .of("--weights")
        .advise("In 16 bits it takes " +
                std::to_string((all.matrices + all.vectors) * 2 / 1000000000) + " GB.");
  return name_of(millibits);
}

}  // namespace kvplan
