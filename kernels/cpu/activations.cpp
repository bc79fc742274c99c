// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cpu/gemv.h"
#include "kernels/numbers.h"

namespace kvplan {
namespace {

std::int64_t padded_rows(std::int64_t m) { return m > 4 ? round_up(m, 8) : m > 2 ? 4 : m; }

}  // namespace

Activations::Activations(const std::vector<std::uint16_t>& bits, std::int64_t rows,
                         std::int64_t columns)
    : m(rows),
      padded(padded_rows(rows)),
      k(columns),
      stride(k + 64),
      bf16(static_cast<std::size_t>(padded * stride)),
      fp32(bf16.size()),
      high(bf16.size()),
      low(bf16.size()),
      step(static_cast<std::size_t>(padded), 1.0f),
      sum(static_cast<std::size_t>(padded)),
      groups(round_up(ceil_div(k, kGemvBlock), 16)) {
  negative_group_sum.resize(static_cast<std::size_t>(padded * groups));
  for (std::int64_t row = 0; row < m; ++row)
    std::copy_n(bits.begin() + row * k, k, bf16.begin() + row * stride);
  for (std::size_t i = 0; i < bf16.size(); ++i) fp32[i] = from_bf16(bf16[i]);
  for (std::int64_t row = 0; row < m; ++row) {
    float largest = 0;
    for (std::int64_t i = 0; i < k; ++i)
      largest = std::max(largest, std::abs(fp32[row * stride + i]));
    // The largest becomes 127 · 256, so that both bytes of every number are in range.
    if (largest > 0) step[row] = largest / (127.0f * 256.0f);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto q = static_cast<int>(std::lround(fp32[row * stride + i] / step[row]));
      const int upper = (q + 128) >> 8;
      high[row * stride + i] = static_cast<std::int8_t>(upper);
      low[row * stride + i] = static_cast<std::int8_t>(q - upper * 256);
      sum[row] += q;
      negative_group_sum[row * groups + i / kGemvBlock] -= 8.0f * static_cast<float>(q);
    }
  }
}

}  // namespace kvplan
