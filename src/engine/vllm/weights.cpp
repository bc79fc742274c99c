// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/weights.h"

#include <algorithm>
#include <array>

#include "word_list.h"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kVocabularyMultiple =
    64;  // vllm/model_executor/layers/vocab_parallel_embedding.py
// Marlin pads MXFP4 experts: inner width per rank to 128, hidden width to 256 (vllm#23278: 65.97
// GiB of weights for gpt-oss-120b).
constexpr std::int64_t kExpertInner = 128, kExpertHidden = 256;

std::int64_t kv_heads_of(const Layer* layer) {
  const auto* attention = layer ? std::get_if<Attention>(&layer->mixer.kind) : nullptr;
  return attention ? attention->kv_heads : 1;
}

// Towers that Transformers runs, whole on every rank.
constexpr std::string_view kWholeTowers = "gemma3n gemma4 qwen2_audio";
// Of other towers every rank holds what takes patches and positions: 0.1 to 5 % of those of
// Qwen3-VL, Qwen3.5, Gemma 3, Mistral 3.1, Llama 4, LLaVA, PaliGemma and SmolVLM2 (vLLM 0.33).
constexpr std::int64_t kInputShare = 64;

bool divides_tower(const Served& served) {
  return served.serving.divides_vision && !has_word(kWholeTowers, served.model.model_type);
}

// Ranks that share one copy of a weight.
std::int64_t shards_of(const Weight& w, const Layer* layer, const Served& served) {
  const Parallelism& p = served.parallel;
  if (w.role == Role::vision) return divides_tower(served) ? p.tp : 1;
  if (w.role == Role::routed_expert && p.ep > 1) return p.ep;
  // Zamba2's projection after each use of the shared block is whole on every rank.
  if (served.model.model_type == "zamba2" && w.name == "linear") return 1;
  switch (w.sharding) {
    case Sharding::replicated:
      return 1;
    case Sharding::split:
      return p.tp;
    case Sharding::kv_heads:
      return std::min(p.tp, std::max<std::int64_t>(kv_heads_of(layer), 1));
  }
  return 1;
}

Bytes sharded(const Weight& w, std::int64_t rows, std::int64_t columns, std::int64_t shards) {
  const Bytes whole = stored_bytes(*w.format, rows, columns) * w.copies;
  return Bytes(ceil_div(whole.n, shards));
}

// Weights that vLLM keeps wider than their checkpoint has them, by a part of their names.
struct Widened {
  std::string_view model_type, part, format;
};
constexpr std::array kWidened = {
    Widened{"deepseek_v4", "compressor.w", "bf16"}, Widened{"deepseek_v4", "attn_hc", "fp32"},
    Widened{"deepseek_v4", "ffn_hc", "fp32"}, Widened{"deepseek_v4", "hc_head", "fp32"}};

// Groups of Mamba-2 that do not divide are there once on each rank.
std::int64_t repeated_rows(const Weight& w, const Layer* layer, std::int64_t tp) {
  if (!layer || (!w.name.ends_with("in_proj") && w.name.find("conv1d") == w.name.npos)) return 0;
  const Mixer& mixer = layer->mixer;
  const auto* r = mixer.beside ? &*mixer.beside : std::get_if<Recurrent>(&mixer.kind);
  if (!r || r->kind != Recurrent::mamba2 || r->k_heads % tp == 0) return 0;
  return checked_mul(2 * (tp - r->k_heads), r->k_width);
}

// A weight as vLLM has it: with copies of the busy experts where ranks share out whole ones
// (vllm/distributed/eplb), widened, and what does not divide repeated.
Weight as_held(Weight w, const Layer* layer, const Served& served) {
  if (w.role == Role::routed_expert && served.parallel.ep > 1 && w.copies > 1)
    w.copies = checked_add(w.copies, served.serving.spare_experts);
  for (const Widened& wide : kWidened)
    if (wide.model_type == served.model.model_type && w.name.find(wide.part) != w.name.npos)
      w.format = &format_named(wide.format);
  w.rows = checked_add(w.rows, repeated_rows(w, layer, served.parallel.tp));
  return w;
}

// Of latents in fewer bits every head's W_UK and W_UV are kept in 16 too; else these are the
// weights themselves (vllm/model_executor/layers/attention/mla_attention.py).
Bytes latent_copy(const Weight& w, const Served& served, std::int64_t shards) {
  if (!served.rules.stores_latent || w.name != "self_attn.kv_b_proj" || w.format->bits >= 16)
    return {};
  return Bytes(ceil_div(checked_mul(2, w.elements()), shards));
}

Bytes padded_expert(const Weight& w, const Parallelism& p, std::int64_t shards, Bytes plain) {
  if (w.role != Role::routed_expert || w.format->name != "mxfp4" || !w.is_matrix) return plain;
  const std::int64_t split = p.ep > 1 ? 1 : p.tp;
  const auto inner = [&](std::int64_t n) {
    return checked_mul(round_up(ceil_div(n, split), kExpertInner), split);
  };
  const auto hidden = [](std::int64_t n) { return round_up(n, kExpertHidden); };
  if (w.name.find("down") != std::string_view::npos)
    return sharded(w, hidden(w.rows), inner(w.columns), shards);
  return sharded(w, inner(w.rows), hidden(w.columns), shards);
}

void add(RankWeights& sum, const Weight& stored, const Layer* layer, const Served& served) {
  const Weight w = as_held(stored, layer, served);
  const std::int64_t shards = shards_of(w, layer, served);
  const bool vocabulary =
      (w.role == Role::embedding || w.role == Role::head) && w.rows == served.model.vocabulary;
  const Bytes plain =
      sharded(w, vocabulary ? round_up(w.rows, kVocabularyMultiple) : w.rows, w.columns, shards);
  const Bytes copy = latent_copy(w, served, shards);
  sum.low += plain + copy;
  sum.value += padded_expert(w, served.parallel, shards, plain) + copy;
  if (w.role == Role::vision && shards > 1)
    sum.value += Bytes(plain.n * (shards - 1) / kInputShare);
}

// Tables of angles in 32 bits, how many: of windows and of compressed layers apart.
std::int64_t wide_tables(const ModelSpec& model) {
  return model.model_type == "deepseek_v4" ? 2 : model.model_type == "gpt_oss" ? 1 : 0;
}

// Sines and cosines of every position, one 16-bit table for all layers (vllm#10517: 14.9889 GiB are
// 14.9576 of weights and 131,072 rows of 128).
Bytes rotary_table(const ModelSpec& model) {
  std::int64_t width = 0;
  for (const Layer& layer : model.layers) {
    if (const auto* a = std::get_if<Attention>(&layer.mixer.kind))
      width = std::max(width, a->rope_width > 0 ? a->rope_width : a->k_width);
    if (const auto* l = std::get_if<Latent>(&layer.mixer.kind)) width = std::max(width, l->rope);
  }
  const std::int64_t bytes = wide_tables(model) > 0 ? 4 * wide_tables(model) : 2;
  return Bytes(checked_mul(model.max_context.value_or(Tokens(0)).n, bytes * width));
}

RankWeights layer_weights(const Layer& layer, const Served& served) {
  RankWeights sum;
  for (const Weight& w : layer.weights) {
    const Bytes before = sum.value;
    add(sum, w, &layer, served);
    const std::int64_t fused = w.role == Role::routed_expert ? 2 : 1;  // gate and up are one
    sum.matrix = std::max(sum.matrix, (sum.value - before) * fused);
  }
  sum.layers = sum.value;
  return sum;
}

void add(RankWeights& sum, const RankWeights& layer) {
  sum.low += layer.low;
  sum.value += layer.value;
  sum.layers += layer.layers;
  sum.matrix = std::max(sum.matrix, layer.matrix);
}

// The host takes one matrix after another until it has what was asked of it
// (vllm/model_executor/offloader/uva.py).
void leave_to_host(RankWeights& sum, Bytes asked) {
  if (asked.n == 0) return;
  sum.low -= std::min(asked + sum.matrix, sum.layers);
  sum.value -= std::min(asked, sum.layers);
}

// All layers look at everything, and no request is longer than the shortest window was.
void drop_windows(ModelSpec& model) {
  for (Layer& layer : model.layers)
    for (Reach& reach : layer.mixer.reach)
      if (const auto* window = std::get_if<Window>(&reach)) {
        model.max_context = std::min(model.max_context.value_or(window->size), window->size);
        reach = All{};
      }
}

template <class Change>
void for_each_list(ModelSpec& model, const Change& change) {
  for (Layer& layer : model.layers) change(layer.weights);
  change(model.ends);
  change(model.vision);
}

bool by_value(const RankWeights& a, const RankWeights& b) { return a.value < b.value; }

// Embedding tables live on the first stage, norm and head on the last; a tied table on both.
bool on_stage(const Weight& w, const ModelSpec& model, std::int64_t stage, std::int64_t pp) {
  const bool first = stage == 0, last = stage == pp - 1;
  if (w.role == Role::embedding) return first || (last && model.tied_head);
  return last;
}

}  // namespace

ModelSpec as_loaded(ModelSpec model, const Settings& settings) {
  const std::string dtype = settings.text("dtype").value_or("auto");
  const bool widens = dtype == "float" || dtype == "float32";
  const Format &wide = format_named("fp32"), &loaded = widens ? wide : format_named("bf16");
  if (settings.boolean("disable_sliding_window").value_or(false)) drop_windows(model);
  if (widens == (*model.native == wide)) return model;
  model.native = &loaded;
  for_each_list(model, [&](std::vector<Weight>& weights) {
    for (Weight& w : weights) {
      if (widens && w.format->block_elements > 1)
        throw Error("vLLM loads no quantised weights in 32 bits")
            .of("dtype")
            .advise("Leave it out.");
      if (widens || *w.format == wide) w.format = &loaded;
    }
  });
  return model;
}

RankWeights rank_weights(const Served& served) {
  const ModelSpec& model = served.model;
  const std::int64_t pp = served.parallel.pp;
  const std::vector<int> stages = stages_of(model, pp);
  std::vector<RankWeights> sums(static_cast<std::size_t>(pp));
  const Offload& offload = served.serving.offload;
  RankWeights widest_on_host;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    if (layer.role == Layer::mtp && served.serving.draft.layers == Draft::none) continue;
    const RankWeights own = layer_weights(layer, served);
    if (layer.role == Layer::main && offload.has(number++))
      widest_on_host = std::max(widest_on_host, own, by_value);
    else
      add(sums[static_cast<std::size_t>(stages[i])], own);
  }
  for (std::int64_t stage = 0; stage < pp; ++stage) {
    RankWeights& sum = sums[static_cast<std::size_t>(stage)];
    for (const Weight& w : model.ends)
      if (on_stage(w, model, stage, pp)) add(sum, w, nullptr, served);
    if (stage == 0 && served.serving.vision)
      for (const Weight& w : model.vision) add(sum, w, nullptr, served);
  }
  RankWeights fullest = *std::max_element(sums.begin(), sums.end(), by_value);
  for (std::int64_t i = 0; i < offload.ahead; ++i) add(fullest, widest_on_host);
  leave_to_host(fullest, offload.bytes);
  fullest.value += rotary_table(model);
  return fullest;
}

}  // namespace kvplan::vllm
