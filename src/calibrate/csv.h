// SPDX-License-Identifier: Apache-2.0
// Tables of times that were measured elsewhere: columns as in cost/columns.h, and time_us. A table
// may hold several devices (gpu) and libraries (backend).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cost/measured.h"

namespace kvplan {

struct MeasuredTable {
  std::vector<Measured> rows;
  std::int64_t left_out = 0;  // rows of formats, widths or devices that no law is fitted to
  std::map<std::string, std::int64_t> left_out_for;  // "gpu a100", "dtype fp8_block": how many
};

// `device` picks the rows of a table that has several. Throws Error with the line.
MeasuredTable read_measured(std::string_view text, std::string_view device);
// A file, compressed by gzip or not. Throws Error with path and line.
MeasuredTable read_measured_file(const std::string& path, std::string_view device);

}  // namespace kvplan
