// SPDX-License-Identifier: Apache-2.0
// "tensors": what a checkpoint stores, by role and format.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/record.h"

namespace kvplan {

struct TensorLine {
  std::string part, role, format;  // part: main, mtp, vision
  std::int64_t tensors = 0, parameters = 0, stored_elements = 0;
  Bytes bytes;
};
struct TensorLines {
  std::vector<TensorLine> groups;
  TensorLine total;
};

template <>
inline constexpr auto description<TensorLine> =
    std::tuple{field("part", &TensorLine::part, "part").where_it_varies(),
               field("role", &TensorLine::role, "role"),
               field("format", &TensorLine::format, "format"),
               field("tensors", &TensorLine::tensors, "tensors"),
               field("parameters", &TensorLine::parameters, "parameters"),
               field("stored_elements", &TensorLine::stored_elements, "stored elements"),
               field("bytes", &TensorLine::bytes, "size")};

Document tensors_document(const std::string& name, const std::string& source, const TensorLines&);

}  // namespace kvplan
