// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm.h"

#include <algorithm>

#include "engine/budget_lines.h"
#include "engine/settings.h"
#include "engine/vllm/budget.h"
#include "engine/vllm/groups.h"
#include "engine/vllm/plain_layers.h"

namespace kvplan {
namespace {

using namespace vllm;

// DeepSeek-V3.2, GLM-5: an indexer over latents.
bool has_sparse_latents(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    return l.mixer.sparse && std::holds_alternative<Latent>(l.mixer.kind);
  });
}

// DeepSeek-V4: rows that serve as K and V. vLLM has one format for them.
bool has_shared_rows(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    const auto* attention = std::get_if<Attention>(&l.mixer.kind);
    return attention && attention->v_is_k;
  });
}

// The flag, or what the deployment says. Sparse latents in 8 bits have a format of their own, but
// for the kernels of large Blackwell GPUs.
CacheFormats formats_of(const EngineOptions& options, const Rules& rules, const ModelSpec& model,
                        const CacheFormats& asked) {
  const auto flag = Settings(options).text("kv_cache_dtype");
  const std::string name = flag && *flag != "auto" ? *flag : std::string(asked.name);
  const bool eight_bits = name == "fp8" || name == "fp8_e4m3";
  const bool plain = rules.kernel_latent_blocks && gpu_of(options.device) == Gpu::blackwell;
  if (has_shared_rows(model) || (eight_bits && !plain && has_sparse_latents(model)))
    return cache_formats("fp8_ds_mla");
  const bool as_model = name == "fp32" || name == "bf16" || name == "fp16";
  if (as_model && *model.native == format_named("fp32")) return cache_formats("fp32");
  if (name == "fp32") return cache_formats("bf16");  // 32-bit checkpoints are loaded in 16
  return name == asked.name ? asked : cache_formats(name);
}

bool is_compressed(const std::vector<CacheGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const CacheGroup& g) { return std::holds_alternative<Compressed>(g.law); });
}

// Expert parallelism is a switch: it always takes all ranks.
Parallelism spread(const EngineOptions& options, Parallelism p) {
  if (p.ep == 1 && Settings(options).boolean("enable_expert_parallel").value_or(false))
    p.ep = checked_mul(p.tp, p.dp);
  return p;
}

class Vllm final : public Engine {
 public:
  Vllm(const EngineOptions& options, const ModelSpec& model, const Deployment& deployment)
      : options_(options),
        model_(as_loaded(drafted(model, draft_of(Settings(options)), Settings(options)),
                         Settings(options))),
        parallel_(spread(options, deployment.parallel)),
        source_tokens_(deployment.source_tokens),
        rules_(rules_of(site_of(options).version)),
        serving_(serving_of(options, rules_, model_, parallel_)),
        groups_(with_plain_layers(
            cache_groups(model_, formats_of(options, rules_, model_, deployment.cache),
                         serving_.draft.layers != Draft::none),
            serving_.plain_cache, *model_.native)),
        layout_(prepared(serving_)),
        weights_(rank_weights(served(serving_))),
        activation_(activation_shape(model_, parallel_.tp)) {}

  Budget budget(const DeviceSpec& device) const override {
    const Serving there = on_device(serving_, options_, device);
    Budget b = budget_of(served(there), weights_, activation_, device, options_.reserve);
    if (serving_.blocks)
      b.kv_pool = exact_line(layout_.bytes_per_block * *serving_.blocks, "num_gpu_blocks_override");
    return b;
  }

  Capacity capacity(Bytes pool, Tokens max_model_len) const override {
    Capacity c;
    if (layout_.rows.empty()) return c;
    if (serving_.drops_windows)
      max_model_len = std::min(max_model_len, model_.max_context.value_or(max_model_len));
    const std::int64_t length = max_model_len.n;
    if (length < 1) throw Error("must be at least 1").of("max_model_len");
    if (serving_.blocks) pool = layout_.bytes_per_block * *serving_.blocks;
    const std::int64_t blocks = std::max(pool, Bytes(0)) / layout_.bytes_per_block;
    const std::int64_t request = layout_.blocks_of_request(length);
    const double requests = static_cast<double>(blocks) / static_cast<double>(request);
    c.block_tokens = layout_.block_tokens;
    c.blocks = blocks;
    c.kv_tokens =
        rules_.printed_tokens == PrintedTokens::concurrency_times_length
            ? static_cast<std::int64_t>(requests * static_cast<double>(length))
            : checked_mul(blocks / layout_.groups(), layout_.block_tokens * layout_.shards);
    c.max_concurrency = rules_.printed_concurrency == PrintedConcurrency::tokens_over_length
                            ? static_cast<double>(*c.kv_tokens) / static_cast<double>(length)
                            : requests;
    c.max_context = longest_request(layout_, rules_, pool, max_model_len);
    return c;
  }

  Bytes reserved(Tokens context, std::int64_t batch) const override {
    return layout_.bytes_per_block * blocks(context, batch);
  }

  Bytes reserved_total(Tokens context, std::int64_t batch) const override {
    Bytes all_stages;
    for (Bytes stage : layout_.stage_blocks) all_stages += stage;
    return all_stages * parallel_.tp * blocks(context, batch);
  }

 private:
  std::int64_t blocks(Tokens context, std::int64_t batch) const {
    return checked_mul(layout_.blocks_of_request(context.n), batch);
  }

  Served served(const Serving& serving) const {
    return {model_, parallel_, rules_, serving, source_tokens_};
  }

  Layout prepared(const Serving& serving) const {
    if (groups_.empty()) return {};
    if (is_compressed(groups_))
      return packed_layout(compressed_buckets(groups_, served(serving)), served(serving));
    return layout_of(buckets_of(groups_, served(serving)), served(serving));
  }

  EngineOptions options_;
  ModelSpec model_;
  Parallelism parallel_;
  Tokens source_tokens_;
  Rules rules_;
  Serving serving_;
  std::vector<CacheGroup> groups_;
  Layout layout_;
  RankWeights weights_;
  ActivationShape activation_;
};

}  // namespace

std::unique_ptr<Engine> make_vllm(const EngineOptions& options, const ModelSpec& model,
                                  const Deployment& deployment) {
  return std::make_unique<Vllm>(options, model, deployment);
}

}  // namespace kvplan
