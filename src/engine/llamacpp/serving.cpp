// SPDX-License-Identifier: Apache-2.0
// common/arg.cpp, src/llama-context.cpp and src/llama-kv-cache-iswa.cpp of ggml-org/llama.cpp.
#include "engine/llamacpp/serving.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/settings.h"
#include "word_list.h"

namespace kvplan::llamacpp {
namespace {

// README of llama-server, --cache-type-k; q6_0: ikawrakow/ik_llama.cpp.
constexpr std::array<std::string_view, 10> kCacheFormats = {
    "fp32", "fp16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1", "q6_0"};

void check_format(const Format& format, const char* key) {
  if (std::find(kCacheFormats.begin(), kCacheFormats.end(), format.name) != kCacheFormats.end())
    return;
  throw Error("llama.cpp has no cache in " + std::string(format.name))
      .of(key)
      .advise("Use f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl or f32.");
}

// -1 leaves the number of slots to the server.
EngineOptions without_automatic(EngineOptions options) {
  const auto parallel = options.settings.find("parallel");
  if (parallel != options.settings.end() && parallel->second == "-1")
    options.settings.erase(parallel);
  return options;
}

// "auto" is on where the device can.
bool flash_of(const Settings& settings) {
  return settings.needed_text("flash_attn") == "auto" || *settings.boolean("flash_attn");
}

void read_draft(const Settings& settings, const ModelSpec& model, Serving& s) {
  const std::string type = settings.needed_text("spec_type");
  if (type == "none") return;
  s.rollback = settings.needed_integer("spec_draft_n_max", 0);
  s.drafts_with_mtp = type == "draft-mtp";
  if (s.drafts_with_mtp && std::none_of(model.layers.begin(), model.layers.end(),
                                        [](const Layer& l) { return l.role == Layer::mtp; }))
    throw Error("the model has no draft layers").of("spec_type");
  s.draft = cache_formats(settings.needed_text("spec_draft_type_k") + "," +
                          settings.needed_text("spec_draft_type_v"));
  check_format(*s.draft.key, "spec_draft_type_k");
  check_format(*s.draft.value, "spec_draft_type_v");
}

LatentCache latent_of(const Settings& settings, const Rules& rules, bool keeps_heads) {
  const auto mla = settings.integer("mla_attn");  // of ik_llama.cpp
  if (!mla) return keeps_heads ? LatentCache::as_heads : rules.latent;
  if (*mla < 0 || *mla > 3) throw Error("must be 0, 1, 2 or 3").of("mla_attn");
  return *mla == 0 ? LatentCache::as_heads : LatentCache::alone;
}

// Every head's keys and values are cached where the file has the latent's up-projection whole:
// files from before ggml-org/llama.cpp#12801, and two families (llama_hparams::is_mla).
bool keeps_heads(const ModelSpec& model) {
  if (has_word("minicpm3 plm", model.model_type)) return true;
  const auto whole = [](const Weight& w) { return w.name == "self_attn.kv_b"; };
  return std::any_of(model.layers.begin(), model.layers.end(), [&](const Layer& layer) {
    return std::any_of(layer.weights.begin(), layer.weights.end(), whole);
  });
}

// Phi-3's windows are not used since ggml-org/llama.cpp#13676.
bool ignores_windows(const ModelSpec& model) {
  return has_word("phi3 phi3_v phi4mm", model.model_type);
}

// llama_model::create_memory makes none for diffusion models.
bool keeps_caches(const ModelSpec& model) {
  return !has_word("Dream llada llada_moe rnd1", model.model_type);
}

// "1024" or one number a device: MiB.
std::int64_t largest_margin(std::string_view list) {
  std::int64_t most = 0;
  while (!list.empty()) {
    std::int64_t n = -1;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), n);
    list.remove_prefix(static_cast<std::size_t>(end - list.data()));
    if (error != std::errc{} || n < 0 || (!list.empty() && list.front() != ','))
      throw Error("is not a number of MiB, or one for each device").of("fit_target");
    list.remove_prefix(list.empty() ? 0 : 1);
    most = std::max(most, n);
  }
  return most;
}

void check_cache(const CacheFormats& cache, bool flash, const char* flag) {
  check_format(*cache.key, "--kv");
  check_format(*cache.value, "--kv");
  if (!flash && cache.value->block_elements > 1)
    throw Error("values in " + std::string(cache.value->name) + " need flash attention")
        .of(flag)
        .advise("Turn it on, or keep values in f16.");
}

}  // namespace

Serving server_of(const EngineOptions& asked, const ModelSpec& model, const CacheFormats& cache) {
  const EngineOptions options = without_automatic(asked);
  const Site site = site_of(options);
  const Settings settings(options, site), given(options);
  const Rules rules = rules_of(site.version);
  Serving s;
  s.ctx_size = given.integer("ctx_size", 0);
  if (s.ctx_size == 0) s.ctx_size = model.max_context.value_or(Tokens(4096)).n;  // the model's own
  s.slots = given.integer("parallel", 1);
  s.default_slots = settings.needed_integer("parallel", 1);
  if (const auto each = given.integer("kv_unified_per_slot", 1); each && !s.ctx_size)
    s.ctx_size = checked_mul(*each, s.slots.value_or(s.default_slots));
  s.streams = rules.streams;
  s.unified = settings.boolean("kv_unified");
  s.batch = settings.needed_integer("ubatch_size", 1);
  s.flash = flash_of(settings) && model.model_type != "grok-1";
  s.product_apart = rules.product_apart;
  s.padding = s.flash ? rules.padding_with_flash : rules.padding;
  s.full_windows =
      settings.boolean("swa_full").value_or(false) || !rules.windows || ignores_windows(model);
  s.caches = keeps_caches(model);
  s.own_streams = model.model_type == "deepseek_v4";
  s.latent = latent_of(settings, rules, keeps_heads(model));
  read_draft(settings, model, s);
  check_cache(cache, s.flash, "flash_attn");
  s.margin = Bytes(checked_mul(largest_margin(settings.needed_text("fit_target")), kMiB));
  s.margin_source = "llama-server --fit-target";
  return s;
}

// ollama/ollama: envconfig, kvcache/causal.go. Its runner keeps latents and their values, and one
// format for keys and values; each CUDA device keeps 457 MiB free.
Serving ollama_of(const EngineOptions& options, const ModelSpec& model, const CacheFormats& cache) {
  const Settings settings(options, site_of(options)), given(options);
  Serving s;
  s.slots = given.integer("num_parallel", 1);
  if (const auto length = given.integer("num_ctx", 1)) {
    s.slots = s.slots.value_or(settings.needed_integer("num_parallel", 1));
    s.ctx_size = checked_mul(*length, *s.slots);
  }
  s.batch = settings.needed_integer("num_batch", 1);
  s.flash = settings.boolean("flash_attention").value_or(cache.value->block_elements > 1);
  s.padding = 256;
  s.ollama_windows = true;
  s.full_windows = ignores_windows(model);
  s.latent = keeps_heads(model) ? LatentCache::as_heads : LatentCache::with_values;
  check_cache(cache, s.flash, "flash_attention");
  if (!(*cache.key == *cache.value))
    throw Error("ollama keeps keys and values in one format").of("--kv");
  s.margin = Bytes(457 * kMiB);
  s.margin_source = "ollama's minimum for a CUDA device";
  return s;
}

Cells cells_of(const Serving& s, Tokens context, std::int64_t batch) {
  batch = std::max<std::int64_t>(batch, 1);
  Cells c;
  c.sequences = s.slots.value_or(s.ctx_size ? s.default_slots : batch);
  const bool chosen = s.slots || !s.ctx_size;  // the number of slots is not left to the server
  c.unified = !s.streams || s.unified.value_or(!chosen);
  const std::int64_t asked = s.ctx_size ? *s.ctx_size : checked_mul(context.n, batch);
  const std::int64_t total = round_up(std::max<std::int64_t>(asked, 1), s.padding);
  c.streams = c.unified ? 1 : c.sequences;
  c.cells = c.unified ? total : round_up(std::max<std::int64_t>(total / c.sequences, 1), s.padding);
  if (s.own_streams) c.streams = c.sequences, c.unified = false;
  return c;
}

std::int64_t window_cells(const Serving& s, const Cells& c, Tokens window) {
  if (s.full_windows) return c.cells;
  const std::int64_t sharing = c.unified ? c.sequences : 1;
  if (s.ollama_windows) {
    const std::int64_t kept = checked_add(window.n, c.sequences > 1 ? 1 : 0);
    if (kept >= c.cells / c.sequences) return c.cells;
    return round_up(checked_add(checked_mul(kept, sharing), s.batch), s.padding);
  }
  const std::int64_t needed = checked_add(checked_mul(window.n, sharing), s.batch);
  return round_up(std::min(c.cells, needed), s.padding);
}

}  // namespace kvplan::llamacpp
