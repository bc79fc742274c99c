// SPDX-License-Identifier: Apache-2.0
// The header of one safetensors file: 8 bytes of length, JSON, then tensor data that is never read
// (huggingface/safetensors, README "Format").
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "model/format.h"
#include "units.h"

namespace kvplan::safetensors {

struct DType {
  std::string_view name;
  int bits;
  std::string_view format;  // a name of model/format.h of the same size
};

struct StoredTensor {
  std::string name;
  const DType* dtype = nullptr;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  Bytes bytes;
};

// Throws Error on anything that contradicts the format or the file's size: lengths, offsets that
// overlap, leave a hole or reach beyond the end, names that stand twice.
std::vector<StoredTensor> parse_header(std::istream&);

}  // namespace kvplan::safetensors
