// SPDX-License-Identifier: Apache-2.0
// The head of one GGUF file (ggml's docs/gguf.md, versions 2 and 3, either byte order): metadata
// and the tensor table. Vocabularies and texts are passed over, tensor data is never read.
#pragma once
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "catalog/node.h"
#include "catalog/tensors.h"

namespace kvplan {

struct GgufFile {
  std::uint32_t version = 0;
  bool big_endian = false;
  // Scalars and short arrays of numbers by their full key. Long arrays and arrays of text are left
  // out; of the vocabulary its size is kept.
  Node metadata;
  std::optional<std::int64_t> vocabulary;
  std::vector<Tensor> tensors;  // names, shapes, formats, bytes; places are not set
};

// Throws Error with a byte offset on anything that contradicts the format or the file's size.
GgufFile parse_gguf(std::istream&);

}  // namespace kvplan
