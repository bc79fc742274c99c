// SPDX-License-Identifier: Apache-2.0
// Why a cache is not as predicted: the question asked again with one input changed, then with two,
// until every line agrees.
#include <algorithm>
#include <functional>

#include "engine/settings.h"
#include "plan/check.h"

namespace kvplan {
namespace {

struct Alternative {
  std::string option;
  std::function<void(Setup&)> apply;
};

Alternative with_setting(const std::string& key, const std::string& value) {
  return {"--set " + key + "=" + value, [key, value](Setup& s) { s.engine.settings[key] = value; }};
}
Alternative with_cache(const char* format) {
  return {std::string("--kv ") + format,
          [format](Setup& s) { s.deployment.cache = cache_formats(format); }};
}
Alternative with_version(const std::string& engine, const char* version) {
  return {"--engine " + engine + "@" + version,
          [version](Setup& s) { s.engine.version = version; }};
}
Alternative with_tp(std::int64_t tp) {
  return {"--tp " + std::to_string(tp), [tp](Setup& s) { s.deployment.parallel.tp = tp; }};
}

bool has_latents(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& l) {
    const auto* attention = std::get_if<Attention>(&l.mixer.kind);
    return attention ? attention->v_is_k : std::holds_alternative<Latent>(l.mixer.kind);
  });
}

std::vector<Alternative> vllm_alternatives(const Setup& setup) {
  std::vector<Alternative> all;
  for (const char* format : {"bf16", "fp8", "int8_per_token_head", "nvfp4"})
    all.push_back(with_cache(format));
  if (has_latents(setup.model)) all.push_back(with_cache("fp8_ds_mla"));
  for (const char* on : {"true", "false"}) all.push_back(with_setting("enable_prefix_caching", on));
  for (const char* tokens : {"2048", "4096", "8192", "16384"})
    all.push_back(with_setting("max_num_batched_tokens", tokens));
  all.push_back(with_setting("disable_hybrid_kv_cache_manager", "true"));
  for (const char* drafted : {"1", "2", "3", "4", "5"})
    all.push_back({std::string("--set speculative_config.method=mtp --set "
                               "speculative_config.num_speculative_tokens=") +
                       drafted,
                   [drafted](Setup& s) {
                     s.engine.settings["speculative_config.method"] = "mtp";
                     s.engine.settings["speculative_config.num_speculative_tokens"] = drafted;
                   }});
  for (const char* version : {"0.6", "0.8.3", "0.9", "0.10", "0.11", "0.15", "0.20", "0.21", "0.22",
                              "0.23", "0.25", "0.26", "0.27", "0.28"})
    all.push_back(with_version(setup.engine.name, version));
  return all;
}

std::vector<Alternative> llama_alternatives(const Setup& setup) {
  std::vector<Alternative> all;
  for (const char* format : {"fp16", "q8_0", "q4_0", "q5_1", "q4_1", "q8_0,q4_0", "q8_0,q5_1"})
    all.push_back(with_cache(format));
  if (setup.engine.name == "ollama") {
    for (const char* slots : {"1", "2", "4"}) all.push_back(with_setting("num_parallel", slots));
    return all;
  }
  all.push_back(with_setting("swa_full", "true"));
  for (const char* on : {"on", "off"}) all.push_back(with_setting("flash_attn", on));
  for (const char* on : {"true", "false"}) all.push_back(with_setting("kv_unified", on));
  for (const char* slots : {"1", "2", "4", "8"}) all.push_back(with_setting("parallel", slots));
  for (const char* batch : {"256", "1024", "2048", "4096"})
    all.push_back(with_setting("ubatch_size", batch));
  all.push_back(with_setting("spec_type", "draft-mtp"));
  for (const char* version :
       {"b3000", "b5000", "b5500", "b6000", "b6500", "b7100", "b8000", "b10000"})
    all.push_back(with_version(setup.engine.name, version));
  return all;
}

std::vector<Alternative> other_alternatives(const Setup& setup) {
  std::vector<Alternative> all;
  for (const char* format : {"bf16", "fp8"}) all.push_back(with_cache(format));
  if (has_latents(setup.model)) all.push_back(with_cache("fp8_ds_mla"));
  if (setup.engine.name == "sglang") {
    for (const char* page : {"1", "16", "64", "128"})
      all.push_back(with_setting("page_size", page));
    all.push_back(with_setting("disable_hybrid_swa_memory", "true"));
    all.push_back(with_setting("disable_radix_cache", "true"));
  } else {
    for (const char* block : {"16", "32", "64", "128"})
      all.push_back(with_setting("kv_cache_config.tokens_per_block", block));
  }
  return all;
}

std::vector<Alternative> alternatives(const Setup& setup) {
  const std::string& engine = setup.engine.name;
  auto all = engine == "vllm"                              ? vllm_alternatives(setup)
             : engine == "llama.cpp" || engine == "ollama" ? llama_alternatives(setup)
                                                           : other_alternatives(setup);
  if (engine != "llama.cpp" && engine != "ollama")
    for (const std::int64_t tp : {1, 2, 4, 8}) all.push_back(with_tp(tp));
  return all;
}

bool explains(Setup setup, const StartLog& log, const std::vector<const Alternative*>& changes) {
  try {
    for (const Alternative* change : changes) change->apply(setup);
    validate(setup.model, setup.deployment.parallel);
    const auto lines = cache_lines(setup, log);
    return std::none_of(lines.begin(), lines.end(),
                        [](const CheckLine& l) { return l.verdict == CheckLine::differs; });
  } catch (const Error&) {
    return false;  // this version or model cannot have it
  }
}

// vLLM prints the memory of one rank, but the least of all ranks decides.
bool another_rank_may_bind(const Setup& setup, const StartLog& log) {
  if (setup.engine.name != "vllm" || setup.deployment.parallel.gpus() < 2 || !log.pool)
    return false;
  if (log.pool->times >= setup.deployment.parallel.gpus()) return false;
  const auto lines = cache_lines(setup, log);
  return std::all_of(lines.begin(), lines.end(), [](const CheckLine& l) {
    const auto difference = l.difference();
    return l.verdict != CheckLine::differs || (difference && *difference > 0);
  });
}

}  // namespace

std::string sizes_of(const Setup& setup, const StartLog& log, std::string_view what) {
  if (setup.engine.name != "vllm") return {};
  for (const char* sequences : {"256", "1024", "128", "64", "512"})
    for (const char* tokens : {"2048", "8192", "16384", "4096", "32768"}) {
      const Alternative change[] = {with_setting("max_num_seqs", sequences),
                                    with_setting("max_num_batched_tokens", tokens),
                                    with_setting("enable_chunked_prefill", "true")};
      Setup changed = setup;
      for (const Alternative& one : change) one.apply(changed);
      const auto lines = budget_lines(changed, log);
      const bool agrees = std::any_of(lines.begin(), lines.end(), [&](const CheckLine& l) {
        return l.what == what && l.verdict == CheckLine::agrees;
      });
      if (agrees) return "comes out with " + change[0].option + " " + change[1].option;
    }
  return {};
}

std::string cause_of(const Setup& setup, const StartLog& log) {
  const auto all = alternatives(setup);
  std::string found;
  int singles = 0;
  for (const Alternative& one : all)
    if (singles < 2 && explains(setup, log, {&one})) {
      found += (found.empty() ? "comes out with " : ", or with ") + one.option;
      ++singles;
    }
  if (!found.empty()) return found;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (explains(setup, log, {&all[i], &all[j]}))
        return "comes out with " + all[i].option + " " + all[j].option;
  if (another_rank_may_bind(setup, log))
    return "another rank may have had less memory: the least decides, and one is printed "
           "(vllm#21348)";
  return {};
}

}  // namespace kvplan
