// SPDX-License-Identifier: Apache-2.0
// Defaults: vllm/engine/arg_utils.py and vllm/config of the releases that rules.cpp names.
#include "engine/vllm/serving.h"

#include <algorithm>

#include "engine/settings.h"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kLongContext = 32768;  // V0 chunks prefill by itself above it
constexpr std::int64_t kLargeDevice = 70 * kGiB;

std::int64_t positive(std::optional<std::int64_t> value, const char* key) {
  if (!value || *value < 1) throw Error("must be at least 1").of(key);
  return *value;
}

struct Sizes {
  std::int64_t tokens, sequences;
};

Sizes default_sizes(const Rules& rules, const Serving& s, bool large) {
  if (rules.sized_by_device)
    return large ? Sizes{8192, 1024} : Sizes{s.chunked ? 2048 : s.max_model_len.n, 256};
  return {s.chunked ? rules.chunked_tokens : std::max<std::int64_t>(s.max_model_len.n, 2048), 256};
}

void read_sizes(const Settings& settings, const Rules& rules, bool large, Serving& s) {
  const auto tokens = settings.integer("max_num_batched_tokens");
  const auto sequences = settings.integer("max_num_seqs");
  Sizes standard = default_sizes(rules, s, large);
  if (settings.text("performance_mode") == "throughput")
    standard.tokens *= 2, standard.sequences *= 2;
  s.sequences = sequences ? positive(sequences, "max_num_seqs") : standard.sequences;
  s.batched_tokens = tokens ? positive(tokens, "max_num_batched_tokens") : standard.tokens;
  if (!tokens) {
    if (!s.chunked) s.batched_tokens = std::max(s.batched_tokens, s.max_model_len.n);
    s.batched_tokens = std::min(s.batched_tokens, checked_mul(s.sequences, s.max_model_len.n));
  } else if (!s.chunked && s.batched_tokens < s.max_model_len.n) {
    throw Error("is smaller than the longest request, which must be computed in one step")
        .of("max_num_batched_tokens")
        .advise("Raise it, shorten --max-model-len, or enable chunked prefill.");
  }
  if (!sequences) s.sequences = std::min(s.sequences, s.batched_tokens);
}

bool is_recurrent(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    return std::holds_alternative<Recurrent>(l.mixer.kind);
  });
}

// All recurrent layers are Mamba's, whose kernels can keep the state at every block.
bool is_mamba(const ModelSpec& model) {
  return std::none_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    const auto* r = std::get_if<Recurrent>(&l.mixer.kind);
    return r && r->kind != Recurrent::mamba1 && r->kind != Recurrent::mamba2;
  });
}

StateCache default_state_cache(const Rules& rules, const Serving& s, const ModelSpec& model) {
  if (!s.prefix_caching) return StateCache::none;
  const bool every_block = rules.mamba_caches_every_block && is_mamba(model) &&
                           !(rules.aligns_where_drafted && s.draft.tokens > 0);
  if (every_block) return StateCache::all;
  return rules.aligns_states ? StateCache::align : StateCache::none;
}

StateCache state_cache(const Settings& settings, const Rules& rules, const Serving& s,
                       const ModelSpec& model) {
  const auto mode = settings.text("mamba_cache_mode");
  if (!mode) return default_state_cache(rules, s, model);
  if (*mode == "none") return StateCache::none;
  if (*mode == "align") return StateCache::align;
  if (*mode == "all") return StateCache::all;
  throw Error("'" + *mode + "' is not none, align or all").of("mamba_cache_mode");
}

double utilization_of(const EngineOptions& options, const Settings& settings, const Rules& rules) {
  const double share = options.utilization.value_or(
      settings.number("gpu_memory_utilization").value_or(rules.utilization));
  if (!(share > 0 && share <= 1)) throw Error("must lie in (0, 1]").of("gpu_memory_utilization");
  return share;
}

}  // namespace

bool is_large(const DeviceSpec& device) {
  return device.memory.value.n >= kLargeDevice && device.name.find("a100") == std::string::npos;
}

Serving serving_of(const EngineOptions& options, const Rules& rules, const ModelSpec& model,
                   const Parallelism& parallel) {
  const Settings settings(options);
  Serving s;
  s.max_model_len = options.max_model_len.value_or(Tokens(
      settings.integer("max_model_len").value_or(model.max_context.value_or(Tokens(32768)).n)));
  positive(s.max_model_len.n, "max_model_len");
  s.chunked = settings.boolean("enable_chunked_prefill")
                  .value_or(rules.chunked_by_default || s.max_model_len.n > kLongContext);
  s.draft = draft_of(settings);
  read_sizes(settings, rules, !options.device || is_large(*options.device), s);

  const bool async = settings.boolean("async_scheduling").value_or(rules.async_by_default);
  if (rules.in_flight_batches) s.batches = parallel.pp > 1 ? parallel.pp : (async ? 2 : 1);
  const bool caches_by_default =
      is_recurrent(model) ? rules.caches_state_prefixes : rules.prefix_caching;
  s.prefix_caching = settings.boolean("enable_prefix_caching").value_or(caches_by_default);
  s.state_cache = state_cache(settings, rules, s, model);
  s.hybrid_groups =
      rules.hybrid_groups && !settings.boolean("disable_hybrid_kv_cache_manager").value_or(false);
  s.vision = !settings.boolean("language_model_only").value_or(false);
  s.profiles_vision = s.vision && !settings.boolean("skip_mm_profiling").value_or(false);
  s.eager = settings.boolean("enforce_eager").value_or(false);
  if (const auto block = settings.integer("block_size"))
    s.block_size = positive(block, "block_size");
  s.utilization = utilization_of(options, settings, rules);
  s.kv_cache_memory = settings.bytes("kv_cache_memory_bytes");
  return s;
}

}  // namespace kvplan::vllm
