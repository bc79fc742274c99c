// SPDX-License-Identifier: Apache-2.0
// Decode attention, grouped or latent: a paged cache in a slot, as many splits as fill the device,
// and the merge.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/run.h"
#include "kernels/cuda/splits.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostQueries = 16;          // of a KV head: rows of a product
constexpr std::int64_t kLatent = 512, kRope = 64;  // widths that the latent kernel is made for
constexpr std::int64_t kTile = 16;                 // tokens
// Numbers of the cache that a check may read, and the queries that it looks at.
constexpr std::int64_t kCheckedNumbers = std::int64_t{1} << 26, kFewestChecks = 2, kMostChecks = 24;

// What both kinds of attention are to host code.
struct Split {
  std::int64_t batch, heads, kv_heads, context;
  std::int64_t head_blocks;  // of the grid, in one sequence
  KvPool keys;
  std::optional<KvPool> values;  // empty: the first part of a key
  std::int64_t value_width;
  float factor;  // by which stored numbers are larger than the kernel's
  bool bf16;
  Kernel kernel, combine;
  Work work;

  std::int64_t rows() const { return batch * heads; }
  const KvPool& value_pool() const { return values ? *values : keys; }
};

class DecodeRun : public GpuRun {
 public:
  // Offsets of the pools are for `cache`.
  DecodeRun(const GpuContext& context, const Split& shape, PagedCache cache)
      : GpuRun(context, Bytes(shape.value_pool().end(cache))),
        shape_(shape),
        cache_(std::move(cache)),
        q_(operands(static_cast<std::size_t>(shape.rows() * shape.keys.width), 11,
                    query_scale(*shape.keys.format, shape.keys.width), shape.bf16)),
        tokens_per_split_(tokens_per_split(shape.context,
                                           splits_for(shape.batch * shape.head_blocks,
                                                      resident_blocks(shape.kernel), shape.context),
                                           kTile)),
        splits_(static_cast<int>(ceil_div(shape.context, tokens_per_split_))),
        queries_(context.gpu, Bytes(shape.rows() * shape.keys.width * 2)),
        out_(context.gpu, Bytes(shape.rows() * shape.value_width * 2)),
        parts_(context.gpu, Bytes(splits_ * shape.rows() * shape.value_width * 4)),
        states_(context.gpu, Bytes(splits_ * shape.rows() * 2 * 4)),
        table_(context.gpu, Bytes(static_cast<std::int64_t>(cache_.table.size()) * 4)) {
    queries_.write(std::span<const std::uint16_t>(q_));
    table_.write(std::span<const int>(cache_.table));
  }

  Work work() const override { return shape_.work; }

  double error() override {
    out_.poison();
    const std::byte* slot = run_once();
    std::vector<std::uint16_t> out(static_cast<std::size_t>(shape_.rows() * shape_.value_width));
    out_.read(std::span(out));
    const std::int64_t checks = std::clamp(kCheckedNumbers / (shape_.context * shape_.keys.width),
                                           kFewestChecks, kMostChecks);
    const std::int64_t step = ceil_div(shape_.rows(), checks);
    double worst = error_of_row(slot, out, shape_.rows() - 1);
    for (std::int64_t row = 0; row < shape_.rows(); row += step)
      worst = std::max(worst, error_of_row(slot, out, row));
    return worst;
  }

  std::string description() const override {
    return std::string(shape_.kernel.name) + " on tensor cores, " + std::to_string(splits_) +
           (splits_ == 1 ? " split, " : " splits, ") +
           std::to_string(splits_ * shape_.head_blocks * shape_.batch) + " blocks of " +
           std::to_string(shape_.kernel.threads) + " threads, " +
           (context_.block_tokens
                ? std::to_string(context_.block_tokens) + " tokens a cache block, "
                : std::string("contiguous cache, ")) +
           rotation();
  }

 private:
  void enqueue(std::byte* slot) override {
    DecodeArgs a;
    a.queries = queries_.as<std::uint16_t>();
    a.keys = slot + shape_.keys.offset;
    a.values = slot + shape_.value_pool().offset;
    a.key_scales = reinterpret_cast<const float*>(slot + shape_.keys.scales_at(cache_));
    a.value_scales = reinterpret_cast<const float*>(slot + shape_.value_pool().scales_at(cache_));
    a.blocks = table_.as<int>();
    a.out = out_.as<std::uint16_t>();
    a.parts = parts_.as<float>();
    a.states = states_.as<float>();
    a.block_scales = cache_.rows_per_block();
    a.head_scales = cache_.rows_per_head();
    a.block_bytes = a.block_scales * shape_.keys.row_bytes();
    a.head_bytes = a.head_scales * shape_.keys.row_bytes();
    a.batch = static_cast<int>(shape_.batch);
    a.heads = static_cast<int>(shape_.heads);
    a.kv_heads = static_cast<int>(shape_.kv_heads);
    a.context = static_cast<int>(shape_.context);
    a.blocks_per_sequence = static_cast<int>(cache_.blocks_per_sequence);
    a.block_shift = cache_.block_shift;
    a.splits = splits_;
    a.tokens_per_split = tokens_per_split_;
    a.score_scale = std::numbers::log2e_v<float> * shape_.factor /
                    std::sqrt(static_cast<float>(shape_.keys.width));
    a.value_scale = shape_.factor;
    context_.gpu.launch(shape_.kernel,
                        {static_cast<unsigned>(splits_), static_cast<unsigned>(shape_.head_blocks),
                         static_cast<unsigned>(shape_.batch)},
                        &a);
    if (splits_ == 1) return;
    const CombineArgs merge{
        a.parts, a.states, a.out, splits_, static_cast<int>(shape_.value_width), a.value_scale};
    context_.gpu.launch(shape_.combine, {static_cast<unsigned>(shape_.rows())}, &merge);
  }

  double error_of_row(const std::byte* slot, const std::vector<std::uint16_t>& out,
                      std::int64_t row) const {
    const std::int64_t sequence = row / shape_.heads;
    const std::int64_t head = row % shape_.heads / (shape_.heads / shape_.kv_heads);
    const auto fetch = [&](const KvPool& pool) {
      return HeadRows(context_.gpu, slot, pool, cache_, sequence, head, shape_.context);
    };
    const HeadRows keys = fetch(shape_.keys), values = fetch(shape_.value_pool());
    std::vector<double> query(static_cast<std::size_t>(shape_.keys.width));
    for (std::size_t i = 0; i < query.size(); ++i)
      query[i] = operand_value(q_[row * shape_.keys.width + i], shape_.bf16);
    std::vector<Answer> answers(static_cast<std::size_t>(shape_.value_width));
    attend(query, shape_.context, keys.reader(), values.reader(), answers);
    return attention_error(std::span(out).subspan(row * shape_.value_width, shape_.value_width),
                           answers, *shape_.value_pool().format, shape_.context, shape_.bf16);
  }

  Split shape_;
  PagedCache cache_;
  std::vector<std::uint16_t> q_;
  int tokens_per_split_, splits_;
  GpuBuffer queries_, out_, parts_, states_, table_;
};

}  // namespace

std::unique_ptr<GpuRun> decode_run_cuda(const GpuContext& context,
                                        const DecodeAttentionShape& shape) {
  if (!(*shape.key == *shape.value) || shape.k_width != shape.v_width ||
      shape.heads % shape.kv_heads != 0 || shape.heads / shape.kv_heads > kMostQueries)
    return nullptr;
  for (const DecodeKernel& kernel : decode_kernels_cuda()) {
    if (kernel.format != shape.key->name || kernel.width != shape.k_width ||
        !runs(context, kernel.kernel, kernel.bf16))
      continue;
    PagedCache cache(shape.batch, shape.kv_heads, shape.context, context.block_tokens);
    const KvPool keys{shape.key, shape.k_width, 0};
    const KvPool values{shape.value, shape.v_width, keys.end(cache)};
    const Split split{shape.batch,   shape.heads,    shape.kv_heads, shape.context, shape.kv_heads,
                      keys,          values,         shape.v_width,  kernel.factor, kernel.bf16,
                      kernel.kernel, kernel.combine, work_of(shape)};
    return std::make_unique<DecodeRun>(context, split, std::move(cache));
  }
  return nullptr;
}

std::unique_ptr<GpuRun> latent_run_cuda(const GpuContext& context, const LatentDecodeShape& shape) {
  if (!(*shape.latent_format == *shape.rope_format) || shape.latent != kLatent ||
      shape.rope != kRope)
    return nullptr;
  const LatentKernel* best = nullptr;  // the smallest that takes all heads, else the largest
  for (const LatentKernel& kernel : latent_kernels_cuda())
    if (kernel.format == shape.latent_format->name && runs(context, kernel.kernel, kernel.bf16) &&
        (!best || best->heads < shape.heads))
      best = &kernel;
  if (!best) return nullptr;
  PagedCache cache(shape.batch, 1, shape.context, context.block_tokens);
  const Split split{shape.batch,
                    shape.heads,
                    1,
                    shape.context,
                    ceil_div(shape.heads, best->heads),
                    {shape.latent_format, shape.latent + shape.rope, 0},
                    std::nullopt,
                    shape.latent,
                    1.0f,
                    best->bf16,
                    best->kernel,
                    best->combine,
                    work_of(shape)};
  return std::make_unique<DecodeRun>(context, split, std::move(cache));
}

}  // namespace kvplan
