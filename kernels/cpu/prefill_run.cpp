// SPDX-License-Identifier: Apache-2.0
// Causal attention of new tokens: one or four blocks of 16 queries that share a KV head pass over
// the keys that the last of them sees. Compute-bound; a lower bound on what a tuned library
// reaches.
#include <algorithm>
#include <limits>
#include <string>

#include "kernels/cpu/kv_work.h"
#include "kernels/cpu/runs.h"
#include "kernels/problem.h"

namespace kvplan {
namespace {

constexpr std::int64_t kCheckedQueries = 16;
constexpr std::int64_t kMostTogether = 4;  // blocks for which a tile of keys and values is packed

class PrefillRun : public CpuRun {
 public:
  PrefillRun(const CpuContext& context, const PrefillAttentionShape& shape)
      : CpuRun(context),
        shape_(shape),
        entry_{shape.cache, shape.cache, shape.k_width, shape.v_width},
        group_(shape.heads / shape.kv_heads),
        tokens_(shape.past + shape.queries),
        pairs_(shape.batch * shape.kv_heads),
        rows_(shape.queries * group_),
        kernel_(attention_kernel(*shape.cache, kQueryLanes, context.isa)),
        unit_rows_(kernel_.together ? kMostTogether * kQueryLanes : kQueryLanes),
        q_(activations(static_cast<std::size_t>(pairs_ * rows_ * shape.k_width), 13,
                       query_scale(*shape.cache, shape.k_width))),
        out_(static_cast<std::size_t>(pairs_ * rows_ * shape.v_width)),
        place_(context.arena,
               Bytes(entry_.bytes(tokens_) * ceil_div(pairs_, context.team.size()))) {}

  Work work() const override { return work_of(shape_); }

  std::optional<Arithmetic> arithmetic() const override { return kernel_.arithmetic; }

  void place() override { place_.advance(); }

  void work_on(int thread) override {
    std::vector<AttentionState> states(static_cast<std::size_t>(unit_rows_ / kQueryLanes),
                                       AttentionState(shape_.v_width));
    const std::int64_t of_pair = ceil_div(rows_, unit_rows_);
    for (std::int64_t unit = 0; unit < pairs_ * of_pair; ++unit)
      if (owner(unit) == thread) attend(unit / of_pair, unit % of_pair, states);
  }

  double error() override {
    std::fill(out_.begin(), out_.end(), std::numeric_limits<float>::quiet_NaN());
    sample();
    double worst = 0;
    for (std::int64_t query = 0; query < pairs_ * rows_;
         query += ceil_div(pairs_ * rows_, kCheckedQueries))
      worst = std::max(worst, error_of_query(query / rows_, query % rows_));
    return std::max(worst, error_of_query(pairs_ - 1, rows_ - 1));
  }

 private:
  // Later units see more keys: threads take turns forth and back, so that sums are alike.
  int owner(std::int64_t unit) const {
    const std::int64_t threads = context_.team.size(), place = unit % threads;
    return static_cast<int>(unit / threads % 2 == 0 ? place : threads - 1 - place);
  }
  // Rows of a pair are ordered by position, then by head of the group.
  std::int64_t visible(std::int64_t row) const { return shape_.past + row / group_ + 1; }
  KvRows rows_of(std::int64_t pair) const {
    const std::int64_t threads = context_.team.size();
    return entry_.rows_at(
        place_.of(static_cast<int>(pair % threads)) + pair / threads * entry_.bytes(tokens_),
        tokens_);
  }

  void attend(std::int64_t pair, std::int64_t unit, std::vector<AttentionState>& states) {
    const std::int64_t first = unit * unit_rows_, count = std::min(unit_rows_, rows_ - first);
    const std::uint16_t* q = q_.data() + (pair * rows_ + first) * shape_.k_width;
    std::vector<QueryBlock> blocks;
    for (std::int64_t r = 0; r < count; r += kQueryLanes)
      blocks.emplace_back(q + r * shape_.k_width, std::min(kQueryLanes, count - r), shape_.k_width,
                          !kernel_.together);
    std::array<std::int64_t, kMostTogether * kQueryLanes> sees{};
    for (std::int64_t r = 0; r < count; ++r) sees[r] = visible(first + r);
    KvRows rows = rows_of(pair);
    rows.tokens = sees[count - 1];
    rows.visible = sees.data();
    const std::span used(states.data(), blocks.size());
    for (AttentionState& state : used) state.reset();
    kernel_.attend(blocks, rows, used);
    float* out = out_.data() + (pair * rows_ + first) * shape_.v_width;
    for (std::int64_t r = 0; r < count; ++r, out += shape_.v_width) {
      const AttentionState& state = used[r / kQueryLanes];
      const std::int64_t row = r % kQueryLanes;
      for (std::int64_t i = 0; i < shape_.v_width; ++i)
        out[i] = state.out[row * shape_.v_width + i] / state.sum[row];
    }
  }

  double error_of_query(std::int64_t pair, std::int64_t row) const {
    const QueryBlock block(q_.data() + (pair * rows_ + row) * shape_.k_width, 1, shape_.k_width);
    const std::vector<double> q(block.plain.begin(), block.plain.end());
    const KvRows rows = rows_of(pair);
    std::vector<Answer> answers(static_cast<std::size_t>(shape_.v_width));
    kvplan::attend(q, visible(row), entry_.key_reader(rows), entry_.value_reader(rows), answers);
    double worst = 0;
    for (std::size_t i = 0; i < answers.size(); ++i)
      worst = std::max(worst, error_of(out_[(pair * rows_ + row) * shape_.v_width + i], answers[i],
                                       kernel_.tolerance));
    return worst;
  }

  PrefillAttentionShape shape_;
  KvEntry entry_;
  std::int64_t group_, tokens_, pairs_, rows_;
  AttentionChoice kernel_;
  std::int64_t unit_rows_;
  std::vector<std::uint16_t> q_;  // [pair][row][k width] bfloat16 bits
  std::vector<float> out_;        // [pair][row][v width]
  Place place_;
};

}  // namespace

std::unique_ptr<CpuRun> prefill_run(const CpuContext& context, const PrefillAttentionShape& shape) {
  if (shape.k_width % 32 != 0 || shape.v_width % 32 != 0 || shape.k_width > kMaxKeyWidth ||
      shape.v_width > kMaxValueWidth || shape.heads % shape.kv_heads != 0 ||
      !attention_kernel(*shape.cache, kQueryLanes, context.isa))
    return nullptr;
  return std::make_unique<PrefillRun>(context, shape);
}

}  // namespace kvplan
