// SPDX-License-Identifier: Apache-2.0
// Products with weights. Each thread owns a slice of the rows of W. With many rows of x, libraries
// that the machine has compete with the bundled kernel.
#include <algorithm>
#include <limits>
#include <string>

#include "kernels/cpu/best_of_run.h"
#include "kernels/cpu/gemv.h"
#include "kernels/cpu/libraries.h"
#include "kernels/numbers.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace kvplan {
namespace {

// Sums of floats, or activations rounded to 16 bits of the largest in a row.
constexpr double kTolerance = 0x1p-16;
constexpr std::int64_t kCheckedRows = 32;
constexpr std::int64_t kFloatsOfChunk = kMiB;  // of W, for libraries without bf16

struct Layout {
  std::int64_t row = 0, scales = 0;  // bytes of one row of W

  Layout(const Format& format, std::int64_t k)
      : row(payload_bytes(format, 1, k).n), scales(scale_bytes(format, 1, k).n) {}
};

class GemmRun : public BestOfRun {
 public:
  GemmRun(const CpuContext& context, const GemmShape& shape, const GemvChoice& kernel)
      : BestOfRun(context),
        shape_(shape),
        kernel_(kernel),
        layout_(*shape.weights, shape.k),
        x_(activations(static_cast<std::size_t>(shape.m * shape.k), 7, 4.0f), shape.m, shape.k),
        y_(static_cast<std::size_t>(shape.n * x_.padded)),
        place_(context.arena,
               Bytes(largest_slice().last * (layout_.row + layout_.scales) + kScaleAlignment)) {
    variants_.push_back({"bundled", [this](int thread) { multiply(thread); }, kernel.arithmetic});
    if (shape.m > kGemvRows && context.isa == best_isa())
      for (const GemmLibrary& library : gemm_libraries()) add(library);
  }

  Work work() const override { return work_of(shape_); }

  // A library that errs is left out and named.
  double error() override {
    const double bundled = error_of_variant(variants_.front());
    drop([this](const Variant& variant) {
      const bool wrong = !(error_of_variant(variant) <= 1);
      if (wrong) wrong_ += ", " + variant.name + " errs";
      return wrong;
    });
    return bundled;
  }

  std::string description() const override { return BestOfRun::description() + wrong_; }

 private:
  static constexpr std::int64_t kScaleAlignment = 64;

  void advance() override { place_.advance(); }

  Slice rows_of(int thread) const { return slice_of(shape_.n, thread, context_.team.size()); }

  void multiply(int thread) {
    const Slice rows = rows_of(thread);
    kernel_.run({place_.of(thread), scales_of(thread, rows.last - rows.first),
                 rows.last - rows.first, &x_, y_.data() + rows.first * x_.padded,
                 context_.isa >= Isa::amx});
  }

  void add(const GemmLibrary& library) {
    if (shape_.weights->name == "fp32")
      variants_.push_back(
          {library.name,
           [this, &library](int thread) { library.floats(product<float>(thread, x_.fp32.data())); },
           Arithmetic::floats});
    else if (shape_.weights->name == "bf16" && library.bf16)
      variants_.push_back({library.name,
                           [this, &library](int thread) {
                             library.bf16(product<std::uint16_t>(thread, x_.bf16.data()));
                           },
                           library.tiles ? Arithmetic::bf16_tiles : Arithmetic::bf16_pairs});
    else if (shape_.weights->name == "bf16")
      variants_.push_back({library.name + " on floats",
                           [this, &library](int thread) { multiply_floats(library, thread); },
                           Arithmetic::floats});
  }

  template <class T>
  LibraryProduct<T> product(int thread, const T* x) {
    const Slice rows = rows_of(thread);
    return {reinterpret_cast<const T*>(place_.of(thread)),
            x,
            y_.data() + rows.first * x_.padded,
            rows.last - rows.first,
            x_.m,
            x_.k,
            x_.stride,
            x_.padded};
  }

  // Some rows of bf16 at a time become floats.
  void multiply_floats(const GemmLibrary& library, int thread) {
    const auto all = product<std::uint16_t>(thread, x_.bf16.data());
    const std::int64_t most = std::max<std::int64_t>(16, kFloatsOfChunk / all.k);
    std::vector<float> w(static_cast<std::size_t>(std::min(most, all.n) * all.k));
    for (std::int64_t first = 0; first < all.n; first += most) {
      const std::int64_t rows = std::min(most, all.n - first);
      const std::uint16_t* from = all.w + first * all.k;
      for (std::int64_t i = 0; i < rows * all.k; ++i) w[i] = from_bf16(from[i]);
      library.floats({w.data(), x_.fp32.data(), all.y + first * all.y_stride, rows, all.m, all.k,
                      all.x_stride, all.y_stride});
    }
  }

  double error_of_variant(const Variant& variant) {
    std::fill(y_.begin(), y_.end(), std::numeric_limits<float>::quiet_NaN());
    pass(variant);
    double worst = 0;
    const std::int64_t step = std::max<std::int64_t>(1, shape_.n / kCheckedRows);
    std::vector<double> w(static_cast<std::size_t>(shape_.k)), x(w.size());
    for (std::int64_t n = 0; n < shape_.n; n += n + step < shape_.n ? step : shape_.n) {
      read_row(n, w);
      for (std::int64_t m = 0; m < shape_.m; m += std::max<std::int64_t>(1, shape_.m / 16)) {
        read_x(m, x);
        worst = std::max(worst, error_of(y_[n * x_.padded + m], dot(w, x), kTolerance));
      }
    }
    return worst;
  }

  Slice largest_slice() const {
    Slice largest;
    for (int t = 0; t < context_.team.size(); ++t) {
      const Slice rows = rows_of(t);
      largest.last = std::max(largest.last, rows.last - rows.first);
    }
    return largest;
  }
  const std::byte* scales_of(int thread, std::int64_t rows) const {
    return place_.of(thread) + round_up(rows * layout_.row, kScaleAlignment);
  }

  // As the kernel multiplies it.
  void read_x(std::int64_t m, std::span<double> out) const {
    if (!kernel_.rounds_x)
      std::copy_n(x_.fp32.begin() + m * x_.stride, shape_.k, out.begin());
    else
      for (std::int64_t i = 0; i < shape_.k; ++i) {
        const ByteBlock in = x_.byte_block(m, i / kByteBlock);
        out[i] = static_cast<double>(in.step) * in.numbers[i % kByteBlock];
      }
  }

  void read_row(std::int64_t n, std::span<double> out) const {
    for (int t = 0; t < context_.team.size(); ++t) {
      const Slice rows = rows_of(t);
      if (n < rows.first || n >= rows.last) continue;
      const std::int64_t local = n - rows.first;
      decode_row(*shape_.weights, place_.of(t) + local * layout_.row,
                 scales_of(t, rows.last - rows.first) + local * layout_.scales, out);
    }
  }

  GemmShape shape_;
  GemvChoice kernel_;
  Layout layout_;
  Activations x_;
  std::vector<float> y_;  // [n][padded]
  Place place_;
  std::string wrong_;
};

}  // namespace

std::unique_ptr<CpuRun> gemm_run(const CpuContext& context, const GemmShape& shape) {
  const GemvChoice kernel = gemv_kernel(*shape.weights, context.isa, shape.m);
  if (!kernel.run || shape.k % (kernel.rounds_x ? kByteBlock : kGemvBlock) != 0) return nullptr;
  return std::make_unique<GemmRun>(context, shape, kernel);
}

}  // namespace kvplan
