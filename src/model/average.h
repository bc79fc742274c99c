// SPDX-License-Identifier: Apache-2.0
// Weights of which only the average width is known, "4.65bpw": EXL2 and EXL3 checkpoints are named
// by it, and the size of a file on disk gives it for mixes that every vendor chooses anew.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "model/format.h"

namespace kvplan {

struct ModelSpec;

// A format that a model brings along.
struct OwnFormat {
  std::string name;
  Format format;  // its name is `name`
};

// Whether a recipe is a size or an average width: no other begins with a digit.
constexpr bool is_by_size(std::string_view recipe) {
  return !recipe.empty() && recipe[0] >= '0' && recipe[0] <= '9';
}

// "4.65bpw", from 1 to 16 bits, to a thousandth; nullptr for any other text.
std::shared_ptr<const OwnFormat> average_format(std::string_view recipe);

// The recipe whose matrices, with vectors in 16 bits, take as much as a file of this size. Towers,
// which GGUF keeps in files of their own, are not in it. Throws Error for a size that no format of
// 1 to 16 bits gives.
std::string average_recipe(const ModelSpec&, Bytes file);

}  // namespace kvplan
