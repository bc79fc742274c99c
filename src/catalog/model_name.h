// SPDX-License-Identifier: Apache-2.0
// A model as people write it: a repository or a tag that adds a number format and remarks to a name
// of the catalog: "llama3.3:70b-instruct-q4_K_M", "hf.co/bartowski/Qwen3-32B-GGUF:Q4_K_M".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

struct TypedModel {
  std::string whole;               // without the place and the owner; names its own format
  std::vector<std::string> names;  // without the format: to look up in turn, the fullest first
  std::string weights;             // the recipe that the name says, as in "q4_k_m"; or empty
  bool is_gguf = false;            // says so, or has one of its file types
  bool is_tag = false;             // of Ollama's library: a name, a colon, a size
};
// Bounded whatever was typed.
TypedModel typed_model(std::string_view typed);

// What llama.cpp and Ollama fetch of a GGUF repository where no file type is named (llama.cpp,
// -hf).
constexpr std::string_view kUsualFileType = "q4_k_m";

// Whether a recipe is a file type of GGUF: "q4_k_m", "iq2_xs"; or a size or an average width, of
// which such mixes are.
bool is_gguf_recipe(std::string_view weights);

}  // namespace kvplan
