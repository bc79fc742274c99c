// SPDX-License-Identifier: Apache-2.0
// Decode attention with grouped or latent keys: each stored byte is read once for all queries that
// share it. Sequences are cut where the threads' shares end, and merged.
#include <algorithm>
#include <limits>
#include <string>

#include "kernels/cpu/kv_work.h"
#include "kernels/cpu/runs.h"
#include "kernels/problem.h"

namespace kvplan {
namespace {

// Queries that are compared with the reference: fewer where each sees many tokens.
constexpr std::int64_t kCheckedQueries = 24, kCheckedTokens = 64 * 1024;

class DecodeRun : public CpuRun {
 public:
  DecodeRun(const CpuContext& context, const KvEntry& entry, std::int64_t pairs,
            std::int64_t queries, std::int64_t tokens, const Work& work)
      : CpuRun(context),
        entry_(entry),
        queries_(queries),
        tokens_(tokens),
        work_(work),
        kernel_(attention_kernel(*entry.key, std::min(queries, kQueryLanes), context.isa)),
        q_(activations(static_cast<std::size_t>(pairs * queries * entry.key_width), 11,
                       query_scale(*entry.key, entry.key_width))),
        out_(static_cast<std::size_t>(pairs * queries * entry.value_width)),
        shares_(share_out(entry, pairs, tokens, context.team.size())),
        place_(context.arena, most_bytes(entry, shares_)),
        parts_of_(static_cast<std::size_t>(pairs)) {
    for (std::int64_t p = 0; p < pairs; ++p)
      for (std::int64_t first = 0; first < queries; first += kQueryLanes)
        blocks_.emplace_back(q_.data() + (p * queries + first) * entry.key_width,
                             std::min(kQueryLanes, queries - first), entry.key_width);
    for (std::size_t t = 0; t < shares_.size(); ++t)
      for (const Fragment& fragment : shares_[t]) {
        parts_of_[fragment.pair].push_back({static_cast<int>(t), &fragment, {}});
        parts_of_[fragment.pair].back().states.assign(blocks_per_pair(),
                                                      AttentionState(entry.value_width));
      }
  }

  Work work() const override { return work_; }

  std::optional<Arithmetic> arithmetic() const override { return kernel_.arithmetic; }

  void place() override { place_.advance(); }

  void work_on(int thread) override {
    for (auto& parts : parts_of_)
      for (Part& part : parts)
        if (part.thread == thread) attend(part);
    context_.team.meet();
    const Slice pairs =
        slice_of(static_cast<std::int64_t>(parts_of_.size()), thread, context_.team.size());
    for (std::int64_t pair = pairs.first; pair < pairs.last; ++pair) finish(pair);
  }

  double error() override {
    std::fill(out_.begin(), out_.end(), std::numeric_limits<float>::quiet_NaN());
    sample();
    const auto all = static_cast<std::int64_t>(parts_of_.size()) * queries_;
    const std::int64_t step =
        ceil_div(all, std::clamp<std::int64_t>(kCheckedTokens / tokens_, 2, kCheckedQueries));
    double worst = 0;
    for (std::int64_t query = 0; query < all; query += step)
      worst = std::max(worst, error_of_query(query));
    return std::max(worst, error_of_query(all - 1));
  }

 private:
  struct Part {  // of a pair, by one thread
    int thread;
    const Fragment* fragment;
    std::vector<AttentionState> states;  // of each block
  };
  std::size_t blocks_per_pair() const {
    return static_cast<std::size_t>(ceil_div(queries_, kQueryLanes));
  }
  KvRows rows_of(const Part& part) const {
    return entry_.rows_at(place_.of(part.thread) + part.fragment->offset, part.fragment->tokens);
  }

  void attend(Part& part) {
    const KvRows all = rows_of(part);
    for (AttentionState& state : part.states) state.reset();
    const std::span blocks(blocks_);
    kernel_.attend(blocks.subspan(part.fragment->pair * blocks_per_pair(), blocks_per_pair()), all,
                   part.states);
  }

  void finish(std::int64_t pair) {
    std::vector<Part>& parts = parts_of_[pair];
    for (std::size_t b = 0; b < blocks_per_pair(); ++b) {
      AttentionState& state = parts.front().states[b];
      for (std::size_t i = 1; i < parts.size(); ++i) state.merge(parts[i].states[b]);
      const std::int64_t first = pair * queries_ + static_cast<std::int64_t>(b) * kQueryLanes;
      for (std::int64_t r = 0; r < blocks_[pair * blocks_per_pair() + b].rows; ++r)
        for (std::int64_t i = 0; i < entry_.value_width; ++i)
          out_[(first + r) * entry_.value_width + i] =
              state.out[r * entry_.value_width + i] / state.sum[r];
    }
  }

  double error_of_query(std::int64_t query) const {
    const std::vector<Part>& parts = parts_of_[query / queries_];
    const QueryBlock block(q_.data() + query * entry_.key_width, 1, entry_.key_width);
    const std::vector<double> q(block.plain.begin(), block.plain.end());
    const auto reader = [&](bool key) {
      return [this, key, &parts](std::int64_t token, std::span<double> row) {
        const Part& part = *std::find_if(parts.begin(), parts.end(), [&](const Part& p) {
          return token < p.fragment->first + p.fragment->tokens;
        });
        const KvRows rows = rows_of(part);
        (key ? entry_.key_reader(rows) : entry_.value_reader(rows))(token - part.fragment->first,
                                                                    row);
      };
    };
    std::vector<Answer> answers(static_cast<std::size_t>(entry_.value_width));
    kvplan::attend(q, tokens_, reader(true), reader(false), answers);
    double worst = 0;
    for (std::size_t i = 0; i < answers.size(); ++i)
      worst = std::max(
          worst, error_of(out_[query * entry_.value_width + i], answers[i], kernel_.tolerance));
    return worst;
  }

  KvEntry entry_;
  std::int64_t queries_, tokens_;  // queries that share a KV head
  Work work_;
  AttentionChoice kernel_;
  std::vector<std::uint16_t> q_;  // [pair][query][key width] bfloat16 bits
  std::vector<float> out_;        // [pair][query][value width]
  std::vector<std::vector<Fragment>> shares_;
  Place place_;
  std::vector<QueryBlock> blocks_;
  std::vector<std::vector<Part>> parts_of_;  // [pair], in order of tokens
};

bool fits(const KvEntry& entry) {
  return entry.key_width % 32 == 0 && entry.value_width % 32 == 0 &&
         entry.key_width <= kMaxKeyWidth && entry.value_width <= kMaxValueWidth &&
         *entry.key == *entry.value;
}

}  // namespace

std::unique_ptr<CpuRun> decode_run(const CpuContext& context, const DecodeAttentionShape& shape) {
  const KvEntry entry{shape.key, shape.value, shape.k_width, shape.v_width};
  if (!fits(entry) || shape.heads % shape.kv_heads != 0 ||
      !attention_kernel(*shape.key, 1, context.isa))
    return nullptr;
  return std::make_unique<DecodeRun>(context, entry, shape.batch * shape.kv_heads,
                                     shape.heads / shape.kv_heads, shape.context, work_of(shape));
}

std::unique_ptr<CpuRun> latent_run(const CpuContext& context, const LatentDecodeShape& shape) {
  const KvEntry entry{shape.latent_format, shape.rope_format, shape.latent + shape.rope,
                      shape.latent, true};
  if (!fits(entry) || shape.latent_format->head_bytes ||
      !attention_kernel(*shape.latent_format, 1, context.isa))
    return nullptr;
  return std::make_unique<DecodeRun>(context, entry, shape.batch, shape.heads, shape.context,
                                     work_of(shape));
}

}  // namespace kvplan
