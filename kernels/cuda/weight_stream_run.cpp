// SPDX-License-Identifier: Apache-2.0
// Products of weights with up to 16 rows of x.
#include <algorithm>
#include <string>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/run.h"
#include "kernels/reference.h"

namespace kvplan {
namespace {

constexpr std::int64_t kDepth = 128;       // k is a multiple of this
constexpr std::int64_t kCheckedRows = 64;  // of W
// Products are exact, sums are float; the adders of tensor cores cut off what they shift out.
constexpr double kTolerance = 0x1p-14;
constexpr float kLargestInput = 4;

// Many rows a block read x less often; few rows a block leave no processor idle.
const WeightStreamKernel* kernel_for(const GpuContext& context, const GemmShape& shape) {
  const std::int64_t enough = 4 * context.gpu.limits().processors;
  const WeightStreamKernel* best = nullptr;
  for (const WeightStreamKernel& kernel : weight_stream_kernels_cuda())
    if (kernel.format == shape.weights->name && shape.m <= kernel.columns &&
        (!best || (kernel.columns == best->columns && shape.n / kernel.rows >= enough)))
      best = &kernel;
  return best;
}

class WeightStreamRun : public GpuRun {
 public:
  WeightStreamRun(const GpuContext& context, const GemmShape& shape,
                  const WeightStreamKernel& kernel)
      : GpuRun(context, Bytes(scales_at(shape)) + scale_bytes(*shape.weights, shape.n, shape.k)),
        shape_(shape),
        kernel_(kernel),
        x_(operands(static_cast<std::size_t>(shape.m * shape.k), 7, kLargestInput, kernel.bf16)),
        input_(context.gpu, Bytes(shape.m * shape.k * 2)),
        out_(context.gpu, Bytes(shape.m * shape.n * 4)) {
    input_.write(std::span<const std::uint16_t>(x_));
  }

  Work work() const override { return work_of(shape_); }

  double error() override {
    out_.poison();
    const std::byte* slot = run_once();
    std::vector<float> y(static_cast<std::size_t>(shape_.m * shape_.n));
    out_.read(std::span(y));
    const std::int64_t step = ceil_div(shape_.n, kCheckedRows);
    double worst = error_of_row(slot, y, shape_.n - 1);
    for (std::int64_t row = 0; row < shape_.n; row += step)
      worst = std::max(worst, error_of_row(slot, y, row));
    return worst;
  }

  std::string description() const override {
    return std::string(kernel_.kernel.name) + " on tensor cores, " + std::to_string(blocks()) +
           " blocks of " + std::to_string(kernel_.rows) + " rows, " + rotation();
  }

 private:
  static std::int64_t scales_at(const GemmShape& shape) {
    return round_up(payload_bytes(*shape.weights, shape.n, shape.k).n, 256);
  }
  std::int64_t blocks() const { return ceil_div(shape_.n, kernel_.rows); }

  void enqueue(std::byte* slot) override {
    WeightStreamArgs a;
    a.weights = slot;
    a.scales = slot + scales_at(shape_);
    a.x = input_.as<std::uint16_t>();
    a.y = out_.as<float>();
    a.m = static_cast<int>(shape_.m);
    a.n = static_cast<int>(shape_.n);
    a.k = static_cast<int>(shape_.k);
    context_.gpu.launch(kernel_.kernel, {static_cast<unsigned>(blocks())}, &a);
  }

  double error_of_row(const std::byte* slot, const std::vector<float>& y, std::int64_t row) const {
    const std::int64_t row_bytes = payload_bytes(*shape_.weights, 1, shape_.k).n;
    const std::int64_t row_scales = scale_bytes(*shape_.weights, 1, shape_.k).n;
    std::vector<std::byte> payload(static_cast<std::size_t>(row_bytes));
    std::vector<std::byte> scales(static_cast<std::size_t>(row_scales));
    context_.gpu.download(payload, slot + row * row_bytes);
    context_.gpu.download(scales, slot + scales_at(shape_) + row * row_scales);
    std::vector<double> w(static_cast<std::size_t>(shape_.k)), x(w.size());
    decode_row(*shape_.weights, payload.data(), scales.data(), w);
    double worst = 0;
    for (std::int64_t m = 0; m < shape_.m; ++m) {
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = operand_value(x_[m * shape_.k + i], kernel_.bf16);
      worst = std::max(worst, error_of(y[m * shape_.n + row], dot(w, x), kTolerance));
    }
    return worst;
  }

  GemmShape shape_;
  const WeightStreamKernel& kernel_;
  std::vector<std::uint16_t> x_;
  GpuBuffer input_, out_;
};

}  // namespace

std::unique_ptr<GpuRun> weight_stream_run_cuda(const GpuContext& context, const GemmShape& shape) {
  const WeightStreamKernel* kernel = kernel_for(context, shape);
  if (!kernel || shape.k % kDepth != 0 || !runs(context, kernel->kernel, kernel->bf16))
    return nullptr;
  return std::make_unique<WeightStreamRun>(context, shape, *kernel);
}

}  // namespace kvplan
