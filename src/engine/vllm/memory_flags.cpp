// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/memory_flags.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "word_list.h"

namespace kvplan::vllm {
namespace {

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    words.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

std::optional<int> number_in(std::string_view word) {
  int n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return n;
}

// "0", "1", "sliding_window"; other words match no layer, as in the engine.
PlainLayers plain_layers(const Settings& settings) {
  const std::string list = settings.text("kv_cache_dtype_skip_layers").value_or("");
  PlainLayers plain;
  for (const std::string_view word : words_of(list)) {
    if (const auto number = number_in(word))
      plain.numbers.push_back(*number);
    else
      plain.windows = plain.windows || word == "sliding_window";
  }
  return plain;
}

const Format* state_format(const Settings& settings, const char* flag) {
  const auto name = settings.text(flag);
  return name && *name != "auto" ? &format_named(*name) : nullptr;
}

Offload offload_of(const Settings& settings) {
  Offload o;
  const double gib = settings.number("cpu_offload_gb").value_or(0);
  if (!(gib >= 0 && gib < 1e6)) throw Error("must be a size in GiB").of("cpu_offload_gb");
  o.bytes = Bytes(static_cast<std::int64_t>(gib * static_cast<double>(kGiB)));
  o.group = settings.integer("offload_group_size", 0).value_or(0);
  o.in_group = settings.integer("offload_num_in_group", 1).value_or(1);
  o.ahead = settings.integer("offload_prefetch_step", 0).value_or(1);
  if (o.group > 0 && o.in_group > o.group)
    throw Error("is more than offload_group_size").of("offload_num_in_group");
  if (o.ahead > 1024) throw Error("is absurd").of("offload_prefetch_step");
  if (o.group == 0) o.ahead = 0;
  return o;
}

// Where no list is given: 1, 2, 4, then every 8 up to 256 and every 16 beyond.
std::int64_t sizes_up_to(std::int64_t most) {
  const std::int64_t small = (most >= 1) + (most >= 2) + (most >= 4);
  const std::int64_t eights = std::min<std::int64_t>(most, 255) / 8;
  return small + eights + (most >= 256 ? (most - 256) / 16 + 1 : 0);
}

// Nested in compilation_config or a flag of its own.
std::optional<std::string> compiled(const Settings& settings, const std::string& key) {
  const auto nested = settings.text("compilation_config." + key);
  return nested ? nested : settings.text(key);
}

std::optional<std::int64_t> captured_sizes(const Settings& settings) {
  if (const auto list = compiled(settings, "cudagraph_capture_sizes"))
    return static_cast<std::int64_t>(words_of(*list).size());
  if (const auto most = compiled(settings, "max_cudagraph_capture_size")) {
    const auto n = number_in(*most);
    if (!n || *n < 0) throw Error("is no number of tokens").of("max_cudagraph_capture_size");
    return sizes_up_to(*n);
  }
  return std::nullopt;
}

bool captures_nothing(const Settings& settings) {
  const auto mode = compiled(settings, "cudagraph_mode");
  return settings.boolean("enforce_eager").value_or(false) || mode == "NONE" || mode == "0" ||
         settings.text("optimization_level") == "0";
}

// Kernels of latents that take pages of other sizes than those that vLLM picks by itself.
struct Backend {
  std::string_view names;
  std::int64_t block;
};
constexpr std::array kBackends = {
    Backend{"TRITON_MLA FLASH_ATTN_MLA", 16}, Backend{"FLASHINFER_MLA", 32},
    Backend{"FLASHMLA FLASHMLA_SPARSE FLASHINFER_MLA_SPARSE", 64}, Backend{"CUTLASS_MLA", 128}};

std::optional<std::int64_t> kernel_block(const Settings& settings) {
  const auto nested = settings.text("attention_config.backend");
  const std::string name = nested ? *nested : settings.text("attention_backend").value_or("");
  for (const Backend& backend : kBackends)
    if (!name.empty() && has_word(backend.names, name)) return backend.block;
  return std::nullopt;
}

}  // namespace

bool PlainLayers::has(int layer, bool slides) const {
  return (windows && slides) || std::find(numbers.begin(), numbers.end(), layer) != numbers.end();
}

void read_memory_flags(const Settings& settings, Serving& s) {
  s.conv_format = state_format(settings, "mamba_cache_dtype");
  s.state_format = state_format(settings, "mamba_ssm_cache_dtype");
  if (!s.state_format) s.state_format = s.conv_format;
  s.state_chunk = settings.integer("mamba_block_size", 1);
  if (s.state_chunk && !s.prefix_caching && s.state_chunk != s.max_model_len.n)
    throw Error("needs a cache of prefixes")
        .of("mamba_block_size")
        .advise("Set enable_prefix_caching, or leave it out.");
  s.plain_cache = plain_layers(settings);
  s.drops_windows = settings.boolean("disable_sliding_window").value_or(false);
  s.kernel_block = kernel_block(settings);
  s.offload = offload_of(settings);
  if (settings.boolean("enable_eplb").value_or(false))
    s.spare_experts = settings.integer("eplb_config.num_redundant_experts", 0).value_or(0);
  s.eager = captures_nothing(settings);
  s.graphs = captured_sizes(settings);
  s.blocks = settings.integer("num_gpu_blocks_override", 1);
}

}  // namespace kvplan::vllm
