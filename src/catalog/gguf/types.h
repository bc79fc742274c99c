// SPDX-License-Identifier: Apache-2.0
// ggml's type numbers (enum ggml_type in ggml.h). The block sizes are the formats' own.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "model/format.h"

namespace kvplan {

struct GgmlType {
  std::uint32_t id;
  std::string_view format;  // a name of model/format.h
};
std::span<const GgmlType> ggml_types();
// nullptr for numbers that ggml does not use.
const Format* ggml_format(std::uint32_t id);

}  // namespace kvplan
