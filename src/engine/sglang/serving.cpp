// SPDX-License-Identifier: Apache-2.0
// sgl-project/sglang: python/sglang/srt/server_args.py and model_executor/model_runner.py.
#include "engine/sglang/serving.h"

#include <algorithm>

#include "engine/settings.h"
#include "engine/version.h"

namespace kvplan::sglang {
namespace {

double share(const Settings& settings, const char* key, double most) {
  const double value = settings.needed_number(key);
  if (!(value > 0 && value <= most))
    throw Error("must be above 0 and at most " + std::to_string(static_cast<int>(most))).of(key);
  return value;
}

bool has_sparse_latents(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    return l.mixer.sparse && std::holds_alternative<Latent>(l.mixer.kind);
  });
}

bool has_shared_rows(const ModelSpec& model) {  // DeepSeek-V4
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    const auto* a = std::get_if<Attention>(&l.mixer.kind);
    return a && a->v_is_k;
  });
}

// Some kernels want pages of their own.
std::int64_t page_of(const Settings& settings, const ModelSpec& model) {
  const std::int64_t page = settings.needed_integer("page_size", 1);
  if (settings.given("page_size")) return page;
  return has_shared_rows(model) ? 256 : has_sparse_latents(model) ? 64 : page;
}

bool is_recurrent(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    return std::holds_alternative<Recurrent>(l.mixer.kind);
  });
}

void read_speculation(const Settings& settings, const ModelSpec& model, Serving& s) {
  const auto algorithm = settings.text("speculative_algorithm");
  if (!algorithm || *algorithm == "NGRAM") return;
  if (*algorithm == "STANDALONE" || *algorithm == "DFLASH")
    throw Error("the shape of the draft model is not known").of("speculative_algorithm");
  const auto own = std::count_if(model.layers.begin(), model.layers.end(),
                                 [](const Layer& l) { return l.role == Layer::mtp; });
  s.draft_layers = std::max<std::int64_t>(own, 1);
  s.draft_tokens = settings.needed_integer("speculative_num_draft_tokens", 1);
  s.requests = settings.needed_integer("max_running_requests", 1);
}

// The budget of states pays for the padding too: kv_cache_configurator.py, 0.5.16 and later.
constexpr Version kPadsStates{0, 5, 16};
// DeepSeek-V4's own: window tokens per token, requests at once.
constexpr double kCompressedShare = 0.1;
constexpr std::int64_t kCompressedRequests = 256;

}  // namespace

Serving serving_of(const EngineOptions& options, const ModelSpec& model, const Parallelism& p) {
  const Settings settings(options, site_of(options));
  Serving s;
  s.page = page_of(settings, model);
  // Where the layout says it already, each of its replicas is one of these groups.
  if (settings.boolean("enable_dp_attention").value_or(false) && p.dp == 1)
    s.attention_dp = settings.integer("dp_size", 1).value_or(1);
  if (p.tp % s.attention_dp != 0)
    throw Error("does not divide the " + std::to_string(p.tp) + " ranks").of("dp_size");
  s.shared_windows = settings.boolean("disable_hybrid_swa_memory").value_or(false);
  const bool compressed = has_shared_rows(model);
  s.window_share = share(settings, "swa_full_tokens_ratio", 1);
  if (compressed) {  // one slot more, for padding
    if (!settings.given("swa_full_tokens_ratio")) s.window_share = kCompressedShare;
    const Settings given(options);
    s.slots =
        checked_add(given.integer("max_running_requests", 1).value_or(kCompressedRequests), 1);
    s.rings = settings.text("speculative_algorithm") ? 2 : 1;
  }
  s.state_share = share(settings, "mamba_full_memory_ratio", 100);
  s.states = settings.integer("max_mamba_cache_size", 1);
  s.state_format = &format_named(settings.needed_text("mamba_ssm_dtype"));
  s.pads_states = site_of(options).version >= kPadsStates;
  s.max_tokens = settings.integer("max_total_tokens", 1);
  read_speculation(settings, model, s);
  if (settings.boolean("disable_radix_cache").value_or(false))
    s.states_per_request = 1;
  else if (settings.text("mamba_scheduler_strategy") == "extra_buffer")
    s.states_per_request = s.draft_tokens > 0 ? 4 : 5;
  else if (settings.text("mamba_scheduler_strategy") == "extra_buffer_lazy")
    s.states_per_request = 4;
  if (!is_recurrent(model)) s.draft_tokens = 0;
  return s;
}

CacheFormats formats_of(const EngineOptions& options, const ModelSpec& model,
                        const CacheFormats& asked) {
  CacheFormats formats = asked;
  const bool packed = Settings(options).text("attention_backend") != "trtllm_mla";
  const bool sparse = asked.name == "fp8" && packed && has_sparse_latents(model);
  // DeepSeek-V4 has no other format there: "auto" is fp8_e4m3.
  if (sparse || has_shared_rows(model)) formats = cache_formats("fp8_ds_mla");
  formats.index = &format_named("fp8-g128");  // 128 fp8 and an fp32 scale, whatever the cache
  return formats;
}

}  // namespace kvplan::sglang
