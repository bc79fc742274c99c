// SPDX-License-Identifier: Apache-2.0
// llama.cpp's file types: which tensors of which layers its quantiser gives which format
// (ggml-org/llama.cpp, src/llama-quant.cpp, llama_tensor_get_type, as of 2025).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "model/spec.h"

namespace kvplan {

struct FileType {
  std::string_view name, base;  // base: of whatever no rule names
  std::string_view rules = {};  // whose rules it follows; empty: its own
  std::string_view ends = {};   // of the token table and the head, whatever the rules say
};
std::span<const FileType> file_types();
// By name, in lower case with '_'; nullptr if unknown.
const FileType* find_file_type(std::string_view name);

// Every weight gets the format that this file type has for it. Where the quantiser's choice depends
// on an importance matrix, the smaller format: a ceiling must hold for both.
void use_file_type(const FileType&, ModelSpec&);

}  // namespace kvplan
