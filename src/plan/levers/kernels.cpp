// SPDX-License-Identifier: Apache-2.0
// What engines do by themselves, and what it is worth against doing without.
#include <algorithm>
#include <cmath>

#include "cost/prefill.h"
#include "engine/settings.h"
#include "plan/lengths.h"
#include "plan/levers/ask.h"
#include "plan/reference_code.h"
#include "plan/room.h"

namespace kvplan::lever {
namespace {

// Heads of the widest attention over all tokens and its queries per KV head; empty without one.
struct Heads {
  std::int64_t heads = 0, repeats = 1, layers = 0;
};
std::optional<Heads> heads_of(const ModelSpec& model) {
  Heads found;
  for (const Layer* layer : main_layers(model)) {
    if (const auto* a = std::get_if<Attention>(&layer->mixer.kind)) {
      found.heads = std::max(found.heads, a->heads);
      found.repeats = std::max(found.repeats, a->heads / a->kv_heads);
      ++found.layers;
    } else if (const auto* l = std::get_if<Latent>(&layer->mixer.kind)) {
      found.heads = std::max(found.heads, l->heads);
      ++found.layers;
    }
  }
  return found.layers > 0 ? std::optional(found) : std::nullopt;
}

std::string gib(Bytes bytes) {
  const auto tenths = static_cast<std::int64_t>(bytes.real() * 10 / static_cast<double>(kGiB));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

std::string milliseconds(Seconds t) {
  const std::int64_t n = std::llround(t.v * 1e3);
  return n > 0 ? std::to_string(n) + " ms" : "less than 1 ms";
}

}  // namespace

// Requests of these lengths in blocks, against one piece of the longest for each.
void paged_cache(const Ask& ask, Levers& found) {
  Setup now = ask.q.setup;
  now.engine.max_model_len.reset();
  std::vector<RequestLength> lengths = ask.q.lengths;
  const bool assumed = lengths.empty();
  constexpr std::int64_t kEven = 64;  // lengths spread evenly up to the load's
  for (std::int64_t i = 1; assumed && i <= kEven; ++i)
    lengths.push_back({std::max<std::int64_t>(1, mul_div(ask.q.load.context.n, i, kEven)), 0});
  const LengthAnswer answer = length_answer(now, lengths);
  const Reservation &piece = answer.rows.front(), &blocks = answer.rows[1];
  if (blocks.kind != Reservation::paged || !piece.requests || !blocks.requests) return;
  Lever lever;
  lever.kind = Lever::in_place;
  lever.name = "paged KV cache";
  lever.how = "blocks of " + std::to_string(*blocks.block) + " tokens, against one piece each";
  lever.after = ask.before;
  if (*piece.requests > 0)
    lever.capacity_gain =
        static_cast<double>(*blocks.requests) / static_cast<double>(*piece.requests);
  lever.remark = assumed ? "for lengths spread evenly up to the context; give --lengths FILE"
                         : "for the lengths given";
  lever.basis = assumed ? Basis::assumed : Basis::engine_rule;
  found.push_back(std::move(lever));
}

void flash_attention(const Ask& ask, Levers& found) {
  const Setup& now = ask.q.setup;
  const auto heads = heads_of(now.model);
  if (!heads || !ask.before.first_token) return;
  const std::int64_t on_rank = ceil_div(heads->heads, now.deployment.parallel.tp);
  const Bytes scores = score_matrix(on_rank, ask.q.load.context);
  Lever lever;
  lever.kind = Lever::in_place;
  lever.name = "FlashAttention";
  lever.how = "scores stay on the chip";
  lever.after = ask.before;
  const std::int64_t layers = ceil_div(heads->layers, now.deployment.parallel.pp);
  const Seconds traffic = score_traffic(scores) * layers / now.device->bandwidth.value;
  const Seconds without = std::max(*ask.before.first_token, traffic);
  lever.first_token_gain = without / *ask.before.first_token;
  lever.remark = "a layer's score matrix of one prompt would take " + gib(scores);
  found.push_back(std::move(lever));
}

// Code that concatenates the cache and repeats K and V for each query head.
void grouped_kernels(const Ask& ask, Levers& found) {
  const Setup& now = ask.q.setup;
  const auto heads = heads_of(now.model);
  if (!heads || heads->repeats == 1 || !ask.step.seconds || !ask.before.tokens_per_second) return;
  const double gpus = static_cast<double>(now.deployment.parallel.gpus());
  const Bytes moved = repeated_traffic(ask.step.kv_bytes, heads->repeats);
  const Seconds memory((ask.step.weight_bytes + moved).real() /
                       (now.device->bandwidth.value.v * gpus));
  Lever lever;
  lever.kind = Lever::in_place;
  lever.name = "kernels that read K and V in place";
  lever.how = "each KV head serves " + std::to_string(heads->repeats) + " query heads";
  lever.after = ask.before;
  lever.speed_gain = std::max(*ask.step.seconds, memory) / *ask.step.seconds;
  lever.remark = "against repeating K and V for each query head and copying the cache";
  found.push_back(std::move(lever));
}

// Launch costs are a matter of host, driver and kernels: no datasheet has them.
void graphs(const Ask& ask, Levers& found) {
  if (ask.gguf) return;
  const Settings settings(ask.q.setup.engine);
  const bool off = settings.boolean("enforce_eager").value_or(false) ||
                   settings.boolean("disable_cuda_graph").value_or(false);
  Lever lever;
  lever.kind = off ? Lever::change : Lever::in_place;
  lever.name = "CUDA graphs and fused kernels";
  lever.how = off ? "leave out the flag that turns graphs off" : "on by default";
  lever.after = ask.before;
  lever.remark = "launch times are not known without a calibrated profile of the machine";
  lever.basis = Basis::assumed;
  found.push_back(std::move(lever));
}

// A prompt that is computed whole stops all running requests; in chunks it stops them for one
// chunk's time, over and over.
void chunked_prefill(const Ask& ask, Levers& found) {
  constexpr std::int64_t kChunk = 2048;
  const Setup& now = ask.q.setup;
  const Settings settings(now.engine);
  const std::int64_t chunk = settings.integer("max_num_batched_tokens").value_or(kChunk);
  if (ask.gguf || !ask.before.first_token || chunk < 1 || chunk >= ask.q.load.context.n) return;
  const auto part = prefill(now.model, now.deployment, *now.device, Tokens(chunk), 1).seconds;
  if (!part) return;
  Lever lever;
  lever.kind = Lever::in_place;
  lever.name = "chunked prefill";
  lever.how = "chunks of " + std::to_string(chunk) + " tokens";
  lever.after = ask.before;
  lever.remark = "a prompt of this length holds the others up for " + milliseconds(*part) +
                 " a step, not for " + milliseconds(*ask.before.first_token) + " at once";
  found.push_back(std::move(lever));
}

}  // namespace kvplan::lever
