// SPDX-License-Identifier: Apache-2.0
// Products with more rows of x than stream weights: cuBLASLt, where it is installed.
#include <algorithm>
#include <optional>
#include <string>

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/run.h"
#include "kernels/reference.h"

namespace kvplan {
namespace {

constexpr int kFp8Capability = 89;  // Ada and later multiply fp8
constexpr std::int64_t kCheckedRows = 24, kCheckedColumns = 16;
constexpr float kLargestInput = 4;

std::optional<GemmSpec::Type> type_of(const Format& format) {
  if (format.name == "bf16") return GemmSpec::bf16;
  if (format.name == "fp16") return GemmSpec::fp16;
  if (format.name == "fp8") return GemmSpec::fp8;
  return std::nullopt;
}

class GemmRun : public GpuRun {
 public:
  GemmRun(const GpuContext& context, const GemmShape& shape, GemmSpec::Type type,
          std::unique_ptr<GemmPlan> plan)
      : GpuRun(context, payload_bytes(*shape.weights, shape.n, shape.k)),
        shape_(shape),
        bf16_(type != GemmSpec::fp16),
        plan_(std::move(plan)),
        x_(inputs(shape, type)),
        input_(context.gpu, Bytes(static_cast<std::int64_t>(x_.size()))),
        out_(context.gpu, Bytes(shape.m * shape.n * 2)) {
    input_.write(std::span<const std::byte>(x_));
  }

  Work work() const override { return work_of(shape_); }

  double error() override {
    out_.poison();
    const std::byte* slot = run_once();
    std::vector<std::uint16_t> y(static_cast<std::size_t>(shape_.m * shape_.n));
    out_.read(std::span(y));
    const std::int64_t step = ceil_div(shape_.n, kCheckedRows);
    double worst = error_of_row(slot, y, shape_.n - 1);
    for (std::int64_t row = 0; row < shape_.n; row += step)
      worst = std::max(worst, error_of_row(slot, y, row));
    return worst;
  }

  std::string description() const override { return plan_->description() + ", " + rotation(); }

 private:
  // fp8 activations are any codes; 16-bit ones are peaky.
  static std::vector<std::byte> inputs(const GemmShape& shape, GemmSpec::Type type) {
    const auto count = static_cast<std::size_t>(shape.m * shape.k);
    std::vector<std::byte> bytes(count * (type == GemmSpec::fp8 ? 1 : 2));
    if (type == GemmSpec::fp8) {
      fill_with_any_format(bytes, 5);
      return bytes;
    }
    const auto numbers = operands(count, 7, kLargestInput, type == GemmSpec::bf16);
    const auto raw = std::as_bytes(std::span(numbers));
    return {raw.begin(), raw.end()};
  }

  void enqueue(std::byte* slot) override { plan_->enqueue(slot, input_.data(), out_.data()); }

  double error_of_row(const std::byte* slot, const std::vector<std::uint16_t>& y,
                      std::int64_t row) const {
    const std::int64_t row_bytes = payload_bytes(*shape_.weights, 1, shape_.k).n;
    std::vector<std::byte> payload(static_cast<std::size_t>(row_bytes));
    context_.gpu.download(payload, slot + row * row_bytes);
    std::vector<double> w(static_cast<std::size_t>(shape_.k)), x(w.size());
    decode_row(*shape_.weights, payload.data(), nullptr, w);
    // One rounding of the result, and sums whose adders cut off what they shift out.
    const double tolerance = 1.25 * operand_rounding(bf16_);
    double worst = 0;
    const std::int64_t step = ceil_div(shape_.m, kCheckedColumns);
    for (std::int64_t m = 0; m < shape_.m; m += step) {
      decode_row(*shape_.weights, x_.data() + m * row_bytes, nullptr, x);
      worst = std::max(worst,
                       error_of(operand_value(y[m * shape_.n + row], bf16_), dot(w, x), tolerance));
    }
    return worst;
  }

  GemmShape shape_;
  bool bf16_;  // results
  std::unique_ptr<GemmPlan> plan_;
  std::vector<std::byte> x_;
  GpuBuffer input_, out_;
};

}  // namespace

std::unique_ptr<GpuRun> gemm_run_cuda(const GpuContext& context, const GemmShape& shape) {
  const auto type = type_of(*shape.weights);
  if (!type || (*type == GemmSpec::fp8 && context.gpu.limits().capability < kFp8Capability))
    return nullptr;
  auto plan = context.gpu.gemm({*type, shape.m, shape.n, shape.k});
  if (!plan) return nullptr;
  return std::make_unique<GemmRun>(context, shape, *type, std::move(plan));
}

}  // namespace kvplan
