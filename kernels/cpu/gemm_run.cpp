// SPDX-License-Identifier: Apache-2.0
// Products with weights. Each thread owns a slice of the rows of W.
#include <algorithm>
#include <limits>
#include <string>

#include "kernels/cpu/gemv.h"
#include "kernels/cpu/runs.h"
#include "kernels/numbers.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace kvplan {
namespace {

// Sums of floats, or activations rounded to 16 bits of the largest in a row.
constexpr double kTolerance = 0x1p-16;
constexpr std::int64_t kCheckedRows = 32;
// Rows of W that stay in a near cache while more than 16 rows of x pass.
constexpr std::int64_t kChunkBytes = 256 * kKiB;

struct Layout {
  std::int64_t row = 0, scales = 0;  // bytes of one row of W

  Layout(const Format& format, std::int64_t k)
      : row(payload_bytes(format, 1, k).n), scales(scale_bytes(format, 1, k).n) {}
};

class GemmRun : public CpuRun {
 public:
  GemmRun(const CpuContext& context, const GemmShape& shape, GemvKernel kernel)
      : CpuRun(context),
        shape_(shape),
        kernel_(kernel),
        layout_(*shape.weights, shape.k),
        x_(activations(static_cast<std::size_t>(shape.m * shape.k), 7, 4.0f), shape.m, shape.k),
        y_(static_cast<std::size_t>(shape.n * x_.padded)),
        place_(context.arena,
               Bytes(largest_slice().last * (layout_.row + layout_.scales) + kScaleAlignment)) {}

  Work work() const override { return work_of(shape_); }

  void place() override { place_.advance(); }

  void work_on(int thread) override {
    const Slice rows = slice_of(shape_.n, thread, context_.team.size());
    const std::int64_t count = rows.last - rows.first;
    const std::int64_t chunk =
        shape_.m <= kGemvRows ? count : std::max<std::int64_t>(8, kChunkBytes / layout_.row);
    for (std::int64_t first = 0; first < count; first += chunk)
      kernel_({place_.of(thread) + first * layout_.row,
               scales_of(thread, count) + first * layout_.scales, std::min(chunk, count - first),
               &x_, y_.data() + (rows.first + first) * x_.padded});
  }

  double error() override {
    std::fill(y_.begin(), y_.end(), std::numeric_limits<float>::quiet_NaN());
    sample();
    double worst = 0;
    const std::int64_t step = std::max<std::int64_t>(1, shape_.n / kCheckedRows);
    std::vector<double> w(static_cast<std::size_t>(shape_.k)), x(w.size());
    for (std::int64_t n = 0; n < shape_.n; n += n + step < shape_.n ? step : shape_.n) {
      read_row(n, w);
      for (std::int64_t m = 0; m < shape_.m; m += std::max<std::int64_t>(1, shape_.m / 16)) {
        std::copy_n(x_.fp32.begin() + m * x_.stride, shape_.k, x.begin());
        worst = std::max(worst, error_of(y_[n * x_.padded + m], dot(w, x), kTolerance));
      }
    }
    return worst;
  }

 private:
  static constexpr std::int64_t kScaleAlignment = 64;

  Slice largest_slice() const {
    Slice largest;
    for (int t = 0; t < context_.team.size(); ++t) {
      const Slice rows = slice_of(shape_.n, t, context_.team.size());
      largest.last = std::max(largest.last, rows.last - rows.first);
    }
    return largest;
  }
  const std::byte* scales_of(int thread, std::int64_t rows) const {
    return place_.of(thread) + round_up(rows * layout_.row, kScaleAlignment);
  }

  void read_row(std::int64_t n, std::span<double> out) const {
    for (int t = 0; t < context_.team.size(); ++t) {
      const Slice rows = slice_of(shape_.n, t, context_.team.size());
      if (n < rows.first || n >= rows.last) continue;
      const std::int64_t local = n - rows.first;
      decode_row(*shape_.weights, place_.of(t) + local * layout_.row,
                 scales_of(t, rows.last - rows.first) + local * layout_.scales, out);
    }
  }

  GemmShape shape_;
  GemvKernel kernel_;
  Layout layout_;
  Activations x_;
  std::vector<float> y_;  // [n][padded]
  Place place_;
};

}  // namespace

std::unique_ptr<CpuRun> gemm_run(const CpuContext& context, const GemmShape& shape) {
  const GemvKernel kernel = gemv_kernel(*shape.weights, context.isa);
  if (!kernel || shape.k % kGemvBlock != 0) return nullptr;
  return std::make_unique<GemmRun>(context, shape, kernel);
}

}  // namespace kvplan
