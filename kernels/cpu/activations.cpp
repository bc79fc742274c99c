// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cpu/gemv.h"
#include "kernels/numbers.h"

namespace kvplan {
namespace {

std::int64_t padded_rows(std::int64_t m) { return m > 4 ? round_up(m, 8) : m > 2 ? 4 : m; }

// Where a number lies in tiles of up to `most` rows that take `line` numbers of each in turn.
std::int64_t place(const Activations& x, std::int64_t row, std::int64_t column, std::int64_t most,
                   std::int64_t line) {
  const std::int64_t rows = std::min(x.padded, most);
  return (row / rows * x.k + column / line * line) * rows + row % rows * line + column % line;
}

}  // namespace

Activations::Activations(const std::vector<std::uint16_t>& bits, std::int64_t rows,
                         std::int64_t columns)
    : m(rows),
      padded(padded_rows(rows)),
      k(columns),
      stride(k + 64),
      bf16(static_cast<std::size_t>(padded * stride)),
      fp32(bf16.size()),
      pairs(padded * k),
      high(padded * k),
      low(padded * k),
      step(static_cast<std::size_t>(padded), 1.0f),
      sum(static_cast<std::size_t>(padded)),
      groups(ceil_div(k, kGemvBlock)) {
  negative_group_sum.resize(static_cast<std::size_t>(padded * groups));
  for (std::int64_t row = 0; row < m; ++row) {
    float largest = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      const std::uint16_t number = bits[row * k + i];
      bf16[row * stride + i] = pairs.data()[place(*this, row, i, kPairRows, 32)] = number;
      fp32[row * stride + i] = from_bf16(number);
      largest = std::max(largest, std::abs(from_bf16(number)));
    }
    // The largest becomes 127 · 256, so that both bytes of every number are in range.
    if (largest > 0) step[row] = largest / (127.0f * 256.0f);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto q = static_cast<int>(std::lround(fp32[row * stride + i] / step[row]));
      const int upper = (q + 128) >> 8;
      const std::int64_t at = place(*this, row, i, kByteRows, 64);
      high.data()[at] = static_cast<std::int8_t>(upper);
      low.data()[at] = static_cast<std::int8_t>(q - upper * 256);
      sum[row] += q;
      negative_group_sum[row * groups + i / kGemvBlock] -= 8.0f * static_cast<float>(q);
    }
  }
}

}  // namespace kvplan
