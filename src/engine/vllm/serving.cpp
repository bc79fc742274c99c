// SPDX-License-Identifier: Apache-2.0
// How vllm/engine/arg_utils.py fits its defaults to model and device.
#include "engine/vllm/serving.h"

#include <algorithm>
#include <type_traits>

#include "engine/settings.h"
#include "engine/vllm/memory_flags.h"
#include "word_list.h"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kLongContext = 32768;  // V0 chunks prefill by itself above it
constexpr std::int64_t kLeastWhole = 2048;    // tokens of a step that takes prompts whole

// T and S: tokens and sequences of one step.
void read_sizes(const Settings& settings, Serving& s) {
  const bool tokens = settings.given("max_num_batched_tokens");
  const bool sequences = settings.given("max_num_seqs");
  const std::int64_t times = settings.text("performance_mode") == "throughput" ? 2 : 1;
  s.sequences = checked_mul(settings.needed_integer("max_num_seqs", 1), sequences ? 1 : times);
  s.batched_tokens =
      checked_mul(settings.needed_integer("max_num_batched_tokens", 1), tokens ? 1 : times);
  if (!tokens) {
    if (!s.chunked) s.batched_tokens = std::max({s.batched_tokens, s.max_model_len.n, kLeastWhole});
    s.batched_tokens = std::min(s.batched_tokens, checked_mul(s.sequences, s.max_model_len.n));
  } else if (!s.chunked && s.batched_tokens < s.max_model_len.n) {
    throw Error("is smaller than the longest request, which must be computed in one step")
        .of("max_num_batched_tokens")
        .advise("Raise it, shorten --max-model-len, or enable chunked prefill.");
  }
  if (!sequences) s.sequences = std::min(s.sequences, s.batched_tokens);
}

template <class Kind>
bool has_layer(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    return std::holds_alternative<Kind>(l.mixer.kind) ||
           (std::is_same_v<Kind, Recurrent> && l.mixer.beside.has_value());
  });
}

// Prefixes are cached by default where the model has attention, and of recurrent ones since 0.28.
bool caches_prefixes(const ModelSpec& model, const Rules& rules) {
  if (!has_layer<Recurrent>(model)) return true;
  return rules.caches_state_prefixes && (has_layer<Attention>(model) || has_layer<Latent>(model));
}

// Mamba 1 or 2 alone; their kernels hand out the states of every block.
bool is_mamba(const ModelSpec& model) {
  return std::all_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    const auto* r = l.mixer.beside ? &*l.mixer.beside : std::get_if<Recurrent>(&l.mixer.kind);
    return !r || r->kind == Recurrent::mamba1 || r->kind == Recurrent::mamba2;
  });
}

StateCache state_cache(const Settings& settings, const Rules& rules, const ModelSpec& model,
                       bool prefix_caching) {
  const auto mode = settings.text("mamba_cache_mode");
  if (!mode) {
    if (!prefix_caching) return StateCache::none;
    if (rules.keeps_mamba_states && is_mamba(model)) return StateCache::all;
    return rules.aligns_states ? StateCache::align : StateCache::none;
  }
  if (*mode == "none") return StateCache::none;
  if (*mode == "align") return StateCache::align;
  if (*mode == "all") return StateCache::all;
  throw Error("'" + *mode + "' is not none, align or all").of("mamba_cache_mode");
}

// Naming their number or rank asks for them, as enable_lora does.
Adapters adapters_of(const Settings& settings) {
  const bool asked = settings.boolean("enable_lora").value_or(false) ||
                     settings.given("max_loras") || settings.given("max_lora_rank");
  if (!asked) return {};
  return {settings.needed_integer("max_loras", 1), settings.needed_integer("max_lora_rank", 1),
          settings.boolean("fully_sharded_loras").value_or(false)};
}

// Connectors that follow layers in groups (SupportsHMA of vllm/distributed/kv_transfer of 0.33.0).
constexpr std::string_view kFollowsGroups =
    "NixlConnector MultiConnector MooncakeConnector MooncakeStoreConnector OffloadingConnector "
    "SimpleCPUOffloadConnector ExampleHiddenStatesConnector HiSparseConnector MoRIIOConnector "
    "UMBPStoreConnector DecodeBenchConnector";

std::string connector_of(const Settings& settings) {
  if (const auto named = settings.text("kv_transfer_config.kv_connector")) return *named;
  if (!settings.given("kv_offloading_size")) return {};
  return settings.text("kv_offloading_backend") == "lmcache" ? "LMCacheConnectorV1"
                                                             : "OffloadingConnector";
}

// Whether windows drop what they no longer need: by the user's word, else not with a connector that
// cannot tell groups apart.
bool keeps_groups(const Settings& settings, const Rules& rules) {
  constexpr const char* kOff = "disable_hybrid_kv_cache_manager";
  if (settings.given(kOff)) return !settings.boolean(kOff).value_or(false);
  const std::string connector = connector_of(settings);
  return connector.empty() ||
         (rules.connectors_follow_groups && has_word(kFollowsGroups, connector));
}

double utilization_of(const EngineOptions& options, const Settings& settings) {
  const double share =
      options.utilization ? *options.utilization : settings.needed_number("gpu_memory_utilization");
  if (!(share > 0 && share <= 1)) throw Error("must lie in (0, 1]").of("gpu_memory_utilization");
  return share;
}

}  // namespace

Serving on_device(Serving s, const EngineOptions& options, const DeviceSpec& device) {
  Site site = site_of(options);
  site.memory = device.memory.value;
  site.device = device.name;
  read_sizes(Settings(options, site), s);
  return s;
}

Serving serving_of(const EngineOptions& options, const Rules& rules, const ModelSpec& model,
                   const Parallelism& parallel) {
  const Settings settings(options, site_of(options));
  const auto on = [&](const char* key) { return settings.boolean(key).value_or(false); };
  Serving s;
  s.gpu = gpu_of(options.device);
  s.max_model_len = options.max_model_len.value_or(Tokens(
      settings.integer("max_model_len").value_or(model.max_context.value_or(Tokens(32768)).n)));
  if (s.max_model_len.n < 1) throw Error("must be at least 1").of("max_model_len");
  const bool leaves_chunks_open = !settings.given("enable_chunked_prefill");
  s.chunked =
      on("enable_chunked_prefill") || (leaves_chunks_open && s.max_model_len.n > kLongContext);
  s.draft = draft_of(settings);
  read_sizes(settings, s);

  if (rules.in_flight_batches)
    s.batches = parallel.pp > 1 ? parallel.pp : (on("async_scheduling") ? 2 : 1);
  const bool applies = settings.given("enable_prefix_caching") || caches_prefixes(model, rules);
  s.prefix_caching = on("enable_prefix_caching") && applies;
  s.state_cache = state_cache(settings, rules, model, s.prefix_caching);
  s.hybrid_groups = rules.hybrid_groups && keeps_groups(settings, rules);
  s.vision = !on("language_model_only");
  s.profiles_vision = s.vision && !on("skip_mm_profiling");
  s.divides_vision = settings.text("mm_encoder_tp_mode") != "data";
  s.default_block = settings.needed_integer("block_size", 1);
  if (settings.given("block_size")) s.block_size = s.default_block;
  s.adapters = adapters_of(settings);
  s.utilization = utilization_of(options, settings);
  s.kv_cache_memory = settings.bytes("kv_cache_memory_bytes");
  read_memory_flags(settings, s);
  return s;
}

}  // namespace kvplan::vllm
