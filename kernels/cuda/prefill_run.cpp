// SPDX-License-Identifier: Apache-2.0
// Causal attention of new tokens over a contiguous cache.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/run.h"

namespace kvplan {
namespace {

constexpr int kHopper = 90;
// Numbers of the cache that a check may read, and the queries that it looks at.
constexpr std::int64_t kCheckedNumbers = std::int64_t{1} << 26, kFewestChecks = 2, kMostChecks = 24;

class PrefillRun : public GpuRun {
 public:
  PrefillRun(const GpuContext& context, const PrefillAttentionShape& shape,
             const PrefillKernel& kernel, PagedCache cache)
      : GpuRun(context, Bytes(values_of(shape, cache).end(cache))),
        shape_(shape),
        kernel_(kernel),
        cache_(std::move(cache)),
        keys_{shape.cache, shape.k_width, 0},
        values_(values_of(shape, cache_)),
        q_(operands(static_cast<std::size_t>(rows() * shape.k_width), 13,
                    query_scale(*shape.cache, shape.k_width), kernel.bf16)),
        queries_(context.gpu, Bytes(rows() * shape.k_width * 2)),
        out_(context.gpu, Bytes(rows() * shape.v_width * 2)) {
    queries_.write(std::span<const std::uint16_t>(q_));
  }

  Work work() const override { return work_of(shape_); }

  double error() override {
    out_.poison();
    const std::byte* slot = run_once();
    std::vector<std::uint16_t> out(static_cast<std::size_t>(rows() * shape_.v_width));
    out_.read(std::span(out));
    const std::int64_t checks =
        std::clamp(kCheckedNumbers / (visible(shape_.queries - 1) * shape_.k_width), kFewestChecks,
                   kMostChecks);
    const std::int64_t step = ceil_div(rows(), checks);
    double worst = error_of_row(slot, out, rows() - 1);
    for (std::int64_t row = 0; row < rows(); row += step)
      worst = std::max(worst, error_of_row(slot, out, row));
    return worst;
  }

  std::string description() const override {
    const bool lower_bound = context_.gpu.limits().capability >= kHopper;
    return std::string(kernel_.kernel.name) + " by mma.sync, " +
           (lower_bound ? "a lower bound on this device, " : "") + std::to_string(kernel_.queries) +
           " queries a block, " + rotation();
  }

 private:
  static KvPool values_of(const PrefillAttentionShape& shape, const PagedCache& cache) {
    const KvPool keys{shape.cache, shape.k_width, 0};
    return {shape.cache, shape.v_width, keys.end(cache)};
  }
  std::int64_t rows() const { return shape_.batch * shape_.queries * shape_.heads; }
  std::int64_t visible(std::int64_t query) const { return shape_.past + query + 1; }

  void enqueue(std::byte* slot) override {
    PrefillArgs a;
    a.q = queries_.as<std::uint16_t>();
    a.keys = slot + keys_.offset;
    a.values = slot + values_.offset;
    a.out = out_.as<std::uint16_t>();
    a.head_rows = cache_.rows_per_head();
    a.heads = static_cast<int>(shape_.heads);
    a.kv_heads = static_cast<int>(shape_.kv_heads);
    a.queries = static_cast<int>(shape_.queries);
    a.past = static_cast<int>(shape_.past);
    a.score_scale = std::numbers::log2e_v<float> / std::sqrt(static_cast<float>(shape_.k_width));
    context_.gpu.launch(kernel_.kernel,
                        {static_cast<unsigned>(ceil_div(shape_.queries, kernel_.queries)),
                         static_cast<unsigned>(shape_.heads), static_cast<unsigned>(shape_.batch)},
                        &a);
  }

  double error_of_row(const std::byte* slot, const std::vector<std::uint16_t>& out,
                      std::int64_t row) const {
    const std::int64_t head = row % shape_.heads, query = row / shape_.heads % shape_.queries;
    const std::int64_t sequence = row / shape_.heads / shape_.queries;
    const auto fetch = [&](const KvPool& pool) {
      return HeadRows(context_.gpu, slot, pool, cache_, sequence,
                      head / (shape_.heads / shape_.kv_heads), visible(query));
    };
    const HeadRows keys = fetch(keys_), values = fetch(values_);
    std::vector<double> q(static_cast<std::size_t>(shape_.k_width));
    for (std::size_t i = 0; i < q.size(); ++i)
      q[i] = operand_value(q_[row * shape_.k_width + i], kernel_.bf16);
    std::vector<Answer> answers(static_cast<std::size_t>(shape_.v_width));
    attend(q, visible(query), keys.reader(), values.reader(), answers);
    return attention_error(std::span(out).subspan(row * shape_.v_width, shape_.v_width), answers,
                           *shape_.cache, visible(query), kernel_.bf16);
  }

  PrefillAttentionShape shape_;
  const PrefillKernel& kernel_;
  PagedCache cache_;
  KvPool keys_, values_;
  std::vector<std::uint16_t> q_;  // [batch][query][head][width]
  GpuBuffer queries_, out_;
};

}  // namespace

std::unique_ptr<GpuRun> prefill_run_cuda(const GpuContext& context,
                                         const PrefillAttentionShape& shape) {
  if (shape.k_width != shape.v_width || shape.heads % shape.kv_heads != 0) return nullptr;
  for (const PrefillKernel& kernel : prefill_kernels_cuda())
    if (kernel.format == shape.cache->name && kernel.width == shape.k_width &&
        runs(context, kernel.kernel, true))
      return std::make_unique<PrefillRun>(
          context, shape, kernel,
          PagedCache(shape.batch, shape.kv_heads, shape.past + shape.queries, 0));
  return nullptr;
}

}  // namespace kvplan
