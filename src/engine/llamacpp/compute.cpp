// SPDX-License-Identifier: Apache-2.0
// Stages of the graphs in src/llama-graph.cpp of ggml-org/llama.cpp; which rows live together was
// found from the buffers that llama.cpp (commit 0c1e570, October 2026) printed on a CPU, and those
// in logs of GPUs.
#include "engine/llamacpp/compute.h"

#include <algorithm>

#include "engine/budget_lines.h"

namespace kvplan::llamacpp {
namespace {

// All in fp32 numbers per token of the micro-batch.

// Logits, the rows that they are made of, and on a host the rows looked up for the next graph:
// 398.38 MiB for gpt-oss-20b on a GPU (public log), 266.50 for Llama 3.1 8B on a CPU.
std::int64_t at_the_head(const ModelSpec& model, bool on_host) {
  return checked_add(model.vocabulary, checked_mul(on_host ? 2 : 1, model.hidden));
}

// Inner rows of those weights of a layer that have this role: gate, up and their product, or up,
// which its activation replaces. Before ggml-org/llama.cpp#14158 the product replaced the gate.
std::int64_t inner_rows(const Layer& layer, Role role, bool product_apart) {
  std::int64_t width = 0, outputs = 0;
  for (const Weight& w : layer.weights) {
    if (w.role != role || !w.is_matrix) continue;
    if (w.name.ends_with("down_proj") || w.name.ends_with("fc2"))
      width = std::max(width, checked_mul(w.columns, w.active));
    else
      outputs = checked_add(outputs, checked_mul(w.rows, w.active));
  }
  const bool gated = outputs >= 2 * width;
  return checked_mul(width, !gated ? 1 : product_apart ? 3 : 2);
}

std::int64_t at_feed_forward(const ModelSpec& model, const Serving& s) {
  std::int64_t most = 0;
  for (const Layer& layer : model.layers)
    for (const Role role : {Role::mlp, Role::routed_expert, Role::shared_expert})
      most = std::max(most, inner_rows(layer, role, s.product_apart));
  return most == 0 ? 0 : checked_add(most, checked_mul(4, model.hidden));
}

// A recurrence's inputs, convolved and not, its gates and its output.
std::int64_t rows_of(const Recurrent& r) {
  switch (r.kind) {
    case Recurrent::rwkv:
      return checked_mul(r.conv_channels, 17);
    case Recurrent::kda:  // all three projections are convolved
      return checked_mul(r.conv_channels, 3);
    default:
      return checked_mul(r.conv_channels, 6);
  }
}

std::int64_t at_recurrence(const ModelSpec& model) {
  std::int64_t most = 0;
  for (const Layer& layer : model.layers) {
    if (const auto* r = std::get_if<Recurrent>(&layer.mixer.kind))
      most = std::max(most, rows_of(*r));
    if (layer.mixer.beside) most = std::max(most, rows_of(*layer.mixer.beside));
  }
  return most == 0 ? 0 : checked_add(most, model.hidden);
}

struct AttentionRows {
  std::int64_t rows = 0, heads = 0;  // of the layer with the most scores
};

AttentionRows at_attention(const ModelSpec& model, const Serving& s) {
  AttentionRows most;
  for (const Layer& layer : model.layers) {
    AttentionRows here;
    if (const auto* a = std::get_if<Attention>(&layer.mixer.kind)) {
      here.heads = a->heads;
      here.rows = checked_add(checked_mul(2 * a->heads + a->kv_heads, a->k_width),
                              checked_mul(a->kv_heads, a->v_width));
    } else if (const auto* l = std::get_if<Latent>(&layer.mixer.kind)) {
      here.heads = l->heads;
      here.rows = checked_mul(l->heads, s.latent == LatentCache::as_heads
                                            ? 3 * (l->nope + l->rope) + l->v_width
                                            : 3 * l->latent + 2 * l->rope);
    }
    most.rows = std::max(most.rows, here.rows);
    most.heads = std::max(most.heads, here.heads);
  }
  if (most.heads > 0) most.rows = checked_add(most.rows, checked_mul(3, model.hidden));
  return most;
}

}  // namespace

ComputeBuffer::ComputeBuffer(const ModelSpec& model, const Serving& serving, bool on_host) {
  constexpr std::int64_t kFloat = 4, kHalf = 2;
  const auto bytes = [&](std::int64_t numbers) {
    return Bytes(checked_mul(checked_mul(serving.batch, numbers), kFloat));
  };
  const AttentionRows attention = at_attention(model, serving);
  head_ = bytes(at_the_head(model, on_host));
  products_ = bytes(std::max(at_feed_forward(model, serving), at_recurrence(model)));
  attention_ = bytes(attention.rows);
  if (attention.heads == 0) return;
  if (!serving.flash) scores_ = bytes(attention.heads);
  mask_ = Bytes(checked_mul(serving.batch, serving.flash ? kHalf : kFloat));
}

BudgetLine ComputeBuffer::at(std::int64_t cells) const {
  const Bytes mask = mask_ * cells;
  const Bytes value = std::max(head_, std::max(products_, attention_ + scores_ * cells) + mask);
  const Bytes high =
      std::max(Bytes(mul_div(value.n, 115, 100)), Bytes(mul_div(head_.n, 105, 100)) + mask);
  return line_between(Bytes(mul_div(value.n, 75, 100)), value, high, Basis::engine_rule,
                      "compute buffers that llama.cpp prints");
}

}  // namespace kvplan::llamacpp
