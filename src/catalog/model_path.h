// SPDX-License-Identifier: Apache-2.0
// What kind of file a path leads to, and which file of a folder describes its model.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace kvplan {

struct ModelPath {
  enum Kind { config, gguf, safetensors, entry } kind = config;
  std::string path;  // of a file, or of the folder of a checkpoint
  std::string name;  // "Llama-3.1-8B" for Llama-3.1-8B/config.json and for Llama-3.1-8B.gguf
  std::vector<Warning> warnings;
};

// A path rather than a name that nobody knows: it is there, or it looks like one.
bool looks_like_path(std::string_view text);

// A folder means its checkpoint, else its config.json, else its only GGUF model. Throws Error (with
// the path) where there is nothing of that kind, or several.
ModelPath model_path(const std::string& given);

}  // namespace kvplan
