// SPDX-License-Identifier: Apache-2.0
// sgl-project/sglang: python/sglang/srt/server_args.py and model_executor/model_runner.py.
#include "engine/sglang/serving.h"

#include <algorithm>
#include <cmath>

#include "engine/settings.h"
#include "engine/version.h"

namespace kvplan::sglang {
namespace {

std::optional<std::int64_t> positive(const Settings& settings, const char* key) {
  const auto value = settings.integer(key);
  if (value && *value < 1) throw Error("must be at least 1").of(key);
  return value;
}

double share(const Settings& settings, const char* key, double otherwise, double most) {
  const double value = settings.number(key).value_or(otherwise);
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

std::int64_t default_page(const ModelSpec& model) {
  return has_shared_rows(model) ? 256 : has_sparse_latents(model) ? 64 : 1;
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
  s.draft_tokens = positive(settings, "speculative_num_draft_tokens").value_or(4);
  s.requests = positive(settings, "max_running_requests").value_or(48);
}

// Prefill chunk and largest captured batch by the device's memory.
// The budget of states pays for the padding too: kv_cache_configurator.py, 0.5.16 and later.
constexpr Version kPadsStates{0, 5, 16};

struct Sizes {
  std::int64_t chunk, batch;
};
Sizes default_sizes(double gib, std::int64_t tp) {
  const bool many = tp >= 4;
  if (gib < 20) return {2048, 8};
  if (gib < 35) return {4096, many ? 80 : 24};
  if (gib < 60) return {4096, many ? 160 : 32};
  if (gib < 160) return {8192, many ? 512 : 256};
  return {16384, 512};
}

double reserved_mib(const Settings& settings, const Parallelism& p, double gib) {
  const bool spread =
      settings.boolean("enable_dp_attention").value_or(false) || (p.dp > 1 && p.ep > 1);
  const std::int64_t ranks = spread ? checked_mul(p.tp, p.dp) : p.tp;  // of a stage
  const Sizes sizes = default_sizes(gib, ranks);
  const auto chunk = static_cast<double>(
      std::max<std::int64_t>(settings.integer("chunked_prefill_size").value_or(sizes.chunk), 2048));
  const auto batch =
      static_cast<double>(settings.integer("cuda_graph_max_bs").value_or(sizes.batch));
  double mib = 512 + 1.5 * chunk + 2 * batch + static_cast<double>(ranks * p.pp) * 128;
  if (spread) {
    const double groups = static_cast<double>(settings.integer("dp_size").value_or(p.dp));
    mib += 3 * batch * groups + (batch > 300 ? 1.5 * batch * groups : 0);
  }
  if (gib > 60) mib = std::max(mib, 10240.0);
  const std::string algorithm = settings.text("speculative_algorithm").value_or("");
  if (algorithm == "STANDALONE") return mib + 6144;
  return algorithm.starts_with("EAGLE") || algorithm == "NEXTN" ? mib + 2048 : mib;
}

}  // namespace

Serving serving_of(const EngineOptions& options, const ModelSpec& model, const Parallelism& p) {
  const Settings settings(options);
  Serving s;
  s.page = positive(settings, "page_size").value_or(default_page(model));
  // Where the layout says it already, each of its replicas is one of these groups.
  if (settings.boolean("enable_dp_attention").value_or(false) && p.dp == 1)
    s.attention_dp = positive(settings, "dp_size").value_or(1);
  if (p.tp % s.attention_dp != 0)
    throw Error("does not divide the " + std::to_string(p.tp) + " ranks").of("dp_size");
  s.shared_windows = settings.boolean("disable_hybrid_swa_memory").value_or(false);
  const bool compressed = has_shared_rows(model);
  s.window_share = share(settings, "swa_full_tokens_ratio", compressed ? 0.1 : s.window_share, 1);
  if (compressed) {  // one slot more, for padding
    s.slots = checked_add(positive(settings, "max_running_requests").value_or(256), 1);
    s.rings = settings.text("speculative_algorithm") ? 2 : 1;
  }
  s.state_share = share(settings, "mamba_full_memory_ratio", s.state_share, 100);
  s.states = positive(settings, "max_mamba_cache_size");
  s.state_format = &format_named(settings.text("mamba_ssm_dtype").value_or("float32"));
  s.pads_states = options.version.empty() || parse_version(options.version) >= kPadsStates;
  s.max_tokens = positive(settings, "max_total_tokens");
  read_speculation(settings, model, s);
  if (settings.boolean("disable_radix_cache").value_or(false))
    s.states_per_request = 1;
  else if (settings.text("mamba_scheduler_strategy") == "extra_buffer")
    s.states_per_request = s.draft_tokens > 0 ? 4 : 5;
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

Fraction memory_fraction(const EngineOptions& options, const ModelSpec& model, const Parallelism& p,
                         Bytes memory) {
  const Settings settings(options);
  const auto given =
      options.utilization ? options.utilization : settings.number("mem_fraction_static");
  if (given) {
    if (!(*given > 0 && *given < 1)) throw Error("must lie in (0, 1)").of("mem_fraction_static");
    return {*given, *given, *given};
  }
  const double mib = memory.real() / static_cast<double>(kMiB);
  const double left = (mib - reserved_mib(settings, p, mib / 1024)) / mib;
  const double fraction = std::round(left * 1000) / 1000;
  if (model.vision.empty()) return {fraction, fraction, fraction};
  // Towers reduce it to 0.95 times a factor of 0.8 to 1.05 by their size.
  return {0.76 * fraction, 0.95 * fraction, 0.9975 * fraction};
}

}  // namespace kvplan::sglang
