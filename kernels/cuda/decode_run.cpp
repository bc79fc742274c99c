// SPDX-License-Identifier: Apache-2.0
// Decode attention: a paged cache in a slot, as many splits as fill the device, and the merge.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/run.h"
#include "kernels/cuda/splits.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostQueries = 16;  // of a KV head: rows of a product
constexpr std::int64_t kTile = 16;         // tokens
// Numbers of the cache that a check may read, and the queries that it looks at.
constexpr std::int64_t kCheckedNumbers = std::int64_t{1} << 26, kFewestChecks = 2, kMostChecks = 24;

const DecodeKernel* kernel_for(const DecodeAttentionShape& shape) {
  for (const DecodeKernel& kernel : decode_kernels_cuda())
    if (kernel.format == shape.key->name && kernel.width == shape.k_width) return &kernel;
  return nullptr;
}

class DecodeRun : public GpuRun {
 public:
  DecodeRun(const GpuContext& context, const DecodeAttentionShape& shape,
            const DecodeKernel& kernel)
      : DecodeRun(context, shape, kernel,
                  PagedCache(shape.batch, shape.kv_heads, shape.context, context.block_tokens)) {}

  Work work() const override { return work_of(shape_); }

  double error() override {
    out_.poison();
    const std::byte* slot = run_once();
    std::vector<std::uint16_t> out(static_cast<std::size_t>(rows() * shape_.v_width));
    out_.read(std::span(out));
    const std::int64_t checks =
        std::clamp(kCheckedNumbers / (shape_.context * shape_.k_width), kFewestChecks, kMostChecks);
    const std::int64_t step = ceil_div(rows(), checks);
    double worst = error_of_row(slot, out, rows() - 1);
    for (std::int64_t row = 0; row < rows(); row += step)
      worst = std::max(worst, error_of_row(slot, out, row));
    return worst;
  }

  std::string description() const override {
    return std::string(kernel_.kernel.name) + " on tensor cores, " + std::to_string(splits_) +
           (splits_ == 1 ? " split, " : " splits, ") +
           std::to_string(splits_ * shape_.kv_heads * shape_.batch) + " blocks of " +
           std::to_string(kernel_.kernel.threads) + " threads, " +
           (context_.block_tokens
                ? std::to_string(context_.block_tokens) + " tokens a cache block, "
                : std::string("contiguous cache, ")) +
           rotation();
  }

 private:
  DecodeRun(const GpuContext& context, const DecodeAttentionShape& shape,
            const DecodeKernel& kernel, PagedCache cache)
      : GpuRun(context, Bytes(pools_end(shape, cache))),
        shape_(shape),
        kernel_(kernel),
        cache_(std::move(cache)),
        keys_{shape.key, shape.k_width, 0},
        values_{shape.value, shape.v_width, keys_.end(cache_)},
        q_(operands(static_cast<std::size_t>(rows() * shape.k_width), 11,
                    query_scale(*shape.key, shape.k_width), kernel.bf16)),
        tokens_per_split_(tokens_per_split(
            shape.context,
            splits_for(shape.batch * shape.kv_heads, resident_blocks(kernel.kernel), shape.context),
            kTile)),
        splits_(static_cast<int>(ceil_div(shape.context, tokens_per_split_))),
        queries_(context.gpu, Bytes(rows() * shape.k_width * 2)),
        out_(context.gpu, Bytes(rows() * shape.v_width * 2)),
        parts_(context.gpu, Bytes(splits_ * rows() * shape.v_width * 4)),
        states_(context.gpu, Bytes(splits_ * rows() * 2 * 4)),
        table_(context.gpu, Bytes(static_cast<std::int64_t>(cache_.table.size()) * 4)) {
    queries_.write(std::span<const std::uint16_t>(q_));
    table_.write(std::span<const int>(cache_.table));
  }

  static std::int64_t pools_end(const DecodeAttentionShape& shape, const PagedCache& cache) {
    const KvPool keys{shape.key, shape.k_width, 0};
    return KvPool{shape.value, shape.v_width, keys.end(cache)}.end(cache);
  }
  std::int64_t rows() const { return shape_.batch * shape_.heads; }

  void enqueue(std::byte* slot) override {
    DecodeArgs a;
    a.queries = queries_.as<std::uint16_t>();
    a.keys = slot + keys_.offset;
    a.values = slot + values_.offset;
    a.key_scales = reinterpret_cast<const float*>(slot + keys_.scales_at(cache_));
    a.value_scales = reinterpret_cast<const float*>(slot + values_.scales_at(cache_));
    a.blocks = table_.as<int>();
    a.out = out_.as<std::uint16_t>();
    a.parts = parts_.as<float>();
    a.states = states_.as<float>();
    a.block_scales = cache_.rows_per_block();
    a.head_scales = cache_.rows_per_head();
    a.block_bytes = a.block_scales * keys_.row_bytes();
    a.head_bytes = a.head_scales * keys_.row_bytes();
    a.batch = static_cast<int>(shape_.batch);
    a.heads = static_cast<int>(shape_.heads);
    a.kv_heads = static_cast<int>(shape_.kv_heads);
    a.context = static_cast<int>(shape_.context);
    a.blocks_per_sequence = static_cast<int>(cache_.blocks_per_sequence);
    a.block_shift = cache_.block_shift;
    a.splits = splits_;
    a.tokens_per_split = tokens_per_split_;
    a.score_scale = std::numbers::log2e_v<float> * kernel_.factor /
                    std::sqrt(static_cast<float>(shape_.k_width));
    a.value_scale = kernel_.factor;
    context_.gpu.launch(kernel_.kernel,
                        {static_cast<unsigned>(splits_), static_cast<unsigned>(shape_.kv_heads),
                         static_cast<unsigned>(shape_.batch)},
                        &a);
    if (splits_ == 1) return;
    const CombineArgs merge{
        a.parts, a.states, a.out, splits_, static_cast<int>(shape_.v_width), a.value_scale};
    context_.gpu.launch(kernel_.combine, {static_cast<unsigned>(rows())}, &merge);
  }

  double error_of_row(const std::byte* slot, const std::vector<std::uint16_t>& out,
                      std::int64_t row) const {
    const std::int64_t sequence = row / shape_.heads;
    const std::int64_t head = row % shape_.heads / (shape_.heads / shape_.kv_heads);
    const auto fetch = [&](const KvPool& pool) {
      return HeadRows(context_.gpu, slot, pool, cache_, sequence, head, shape_.context);
    };
    const HeadRows keys = fetch(keys_), values = fetch(values_);
    std::vector<double> query(static_cast<std::size_t>(shape_.k_width));
    for (std::size_t i = 0; i < query.size(); ++i)
      query[i] = operand_value(q_[row * shape_.k_width + i], kernel_.bf16);
    std::vector<Answer> answers(static_cast<std::size_t>(shape_.v_width));
    attend(query, shape_.context, keys.reader(), values.reader(), answers);
    // Weights are rounded to operands, and so is the output; the rest is float.
    const double tolerance = 2.5 * operand_rounding(kernel_.bf16);
    const double underflow = attention_underflow(*shape_.value, shape_.context, kernel_.bf16);
    double worst = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i].magnitude += underflow / tolerance;
      worst = std::max(worst, error_of(operand_value(out[row * shape_.v_width + i], kernel_.bf16),
                                       answers[i], tolerance));
    }
    return worst;
  }

  DecodeAttentionShape shape_;
  const DecodeKernel& kernel_;
  PagedCache cache_;
  KvPool keys_, values_;
  std::vector<std::uint16_t> q_;
  int tokens_per_split_, splits_;
  GpuBuffer queries_, out_, parts_, states_, table_;
};

}  // namespace

std::unique_ptr<Run> decode_run_cuda(const GpuContext& context, const DecodeAttentionShape& shape) {
  const DecodeKernel* kernel = kernel_for(shape);
  if (!kernel || !(*shape.key == *shape.value) || shape.k_width != shape.v_width ||
      shape.heads % shape.kv_heads != 0 || shape.heads / shape.kv_heads > kMostQueries ||
      !runs(context, kernel->kernel, kernel->bf16))
    return nullptr;
  return std::make_unique<DecodeRun>(context, shape, *kernel);
}

}  // namespace kvplan
