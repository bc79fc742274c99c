// SPDX-License-Identifier: Apache-2.0
// Answers in double precision, from the bytes as they are stored; no kernel is timed before it
// agrees with them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/format.h"

namespace kvplan {

// One stored row of `out.size()` numbers, exactly. Layouts:
//   fp32, bf16, fp16, fp8 (E4M3), int8   plain
//   int8-channel, int8-head              one fp32 scale a row
//   int4-g128   byte j of a group's 64 holds number j low and number 64 + j high, each plus 8; one
//               fp16 scale a group
//   q8_0, q4_0, q2_k … q6_k              ggml's blocks, which hold their scales
// `scales` are those of this row.
void decode_row(const Format&, const std::byte* payload, const std::byte* scales,
                std::span<double> out);

// A row of ggml's blocks, as above; false where the format is none of them.
bool decode_blocks(const Format&, const std::byte* payload, std::span<double> out);

// A computed number, what it should be, and the sum of magnitudes that it was made of: rounding
// errors are relative to the sum, not to a result that may have cancelled.
struct Answer {
  double value = 0;
  double magnitude = 0;
};

// Σ a_i b_i.
Answer dot(std::span<const double> a, std::span<const double> b);

using RowReader = std::function<void(std::int64_t token, std::span<double> row)>;

// Attention of one query over `tokens` keys: scores q·k/√width, softmax, weighted values.
// `width` = query.size(); answers.size() = width of a value.
void attend(std::span<const double> query, std::int64_t tokens, const RowReader& key,
            const RowReader& value, std::span<Answer> answers);

// |computed - value| in units of what is allowed: `relative` · magnitude. NaN counts as infinite.
double error_of(double computed, const Answer&, double relative);

}  // namespace kvplan
