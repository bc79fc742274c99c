// SPDX-License-Identifier: Apache-2.0
// 16-bit inputs and outputs of kernels, in the type that the tensor cores take.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/numbers.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace kvplan {

inline double operand_value(std::uint16_t bits, bool bf16) {
  return bf16 ? from_bf16(bits) : from_fp16(bits);
}

// As `activations`, rounded once more where the operand is fp16.
inline std::vector<std::uint16_t> operands(std::size_t count, std::uint64_t seed, float scale,
                                           bool bf16) {
  std::vector<std::uint16_t> bits = activations(count, seed, scale);
  if (!bf16)
    for (std::uint16_t& b : bits) b = to_fp16(from_bf16(b));
  return bits;
}

// Half a unit in the last place, relative.
inline double operand_rounding(bool bf16) { return bf16 ? 0x1p-8 : 0x1p-11; }

// What attention over `tokens` may lose where weights of less than 2^-25 become 0: all others are
// rounded relative to themselves. The largest stored number of inputs by problem.h counts.
inline double attention_underflow(const Format& format, std::int64_t tokens, bool bf16) {
  if (bf16) return 0;
  const double largest = format.block_bytes == 2              ? 2
                         : format.precision == Precision::fp8 ? 448
                                                              : 128;
  return 0x1p-25 * largest * static_cast<double>(tokens);
}

// Largest error of one query's output: weights are rounded to operands, and so is the output; the
// rest is float.
inline double attention_error(std::span<const std::uint16_t> out, std::span<Answer> answers,
                              const Format& format, std::int64_t tokens, bool bf16) {
  const double tolerance = 2.5 * operand_rounding(bf16);
  const double underflow = attention_underflow(format, tokens, bf16);
  double worst = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i].magnitude += underflow / tolerance;
    worst = std::max(worst, error_of(operand_value(out[i], bf16), answers[i], tolerance));
  }
  return worst;
}

}  // namespace kvplan
