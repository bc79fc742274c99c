// SPDX-License-Identifier: Apache-2.0
#include "plan/remedy.h"

#include <algorithm>
#include <cmath>

#include "plan/refused_start.h"

namespace kvplan {
namespace {

constexpr double kMostUtilization = 0.97;
constexpr Tokens kUseful{256};  // a shorter longest request is no remedy

// What the engines call the same things; empty where they have no such option.
struct Names {
  std::string_view length, utilization, cache, gpus;
};
Names names_of(const std::string& engine) {
  if (engine == "sglang")
    return {"--context-length", "--mem-fraction-static", "--kv-cache-dtype", "--tp-size"};
  if (engine == "trtllm")
    return {"--max_seq_len", "--kv_cache_free_gpu_memory_fraction", "--kv_cache_dtype",
            "--tp_size"};
  if (engine == "llama.cpp") return {"--ctx-size", "", "--cache-type-k/-v", ""};
  if (engine == "ollama") return {"num_ctx", "", "OLLAMA_KV_CACHE_TYPE", ""};
  return {"--max-model-len", "--gpu-memory-utilization", "--kv-cache-dtype",
          "--tensor-parallel-size"};
}

std::string with(std::string_view option, const std::string& text) {
  return std::string(option) + " " + text;
}

// "0.93"
std::string hundredths(double share) {
  const auto n = static_cast<int>(std::lround(share * 100));
  return std::to_string(n / 100) + "." + std::to_string(n / 10 % 10) + std::to_string(n % 10);
}

class Changes {
 public:
  explicit Changes(const RefusedStart& start)
      : start_(start), names_(names_of(start.setup().engine.name)) {}

  std::vector<Change> all() {
    more_memory();
    without_graphs();
    smaller_steps();
    smaller_cache();
    shorter();
    fewer_layers();
    more_gpus();
    std::stable_partition(all_.begin(), all_.end(), [](const Change& c) { return c.fits; });
    return std::move(all_);
  }

 private:
  bool is_vllm() const { return start_.setup().engine.name == "vllm"; }

  // False where not even a short request fits.
  bool add(std::string how, const Setup& changed, Bytes pool, const char* costs) {
    const auto longest = start_.longest(changed, pool);
    if (!longest || *longest < kUseful) return false;
    all_.push_back({std::move(how), *longest >= start_.length(), longest, costs});
    return true;
  }

  void more_memory() {
    if (names_.utilization.empty() || !start_.has_memory() || start_.need() <= start_.pool())
      return;
    const Budget b = start_.budget();
    if (!b.utilization) return;
    const double more = (start_.need() - start_.pool()).real() / b.memory.real();
    const double share = std::ceil((*b.utilization + more) * 100) / 100;
    if (share <= kMostUtilization)
      all_.push_back({with(names_.utilization, hundredths(share)), true, start_.length(),
                      "less memory for peaks and other programs"});
  }

  void without_graphs() {
    if (is_vllm() && start_.log().graph_estimate)
      add("--enforce-eager", start_.setup(), start_.pool() + start_.log().graph_estimate->least,
          "slower decoding of small batches");
  }

  void smaller_steps() {
    if (!is_vllm() || !start_.has_memory()) return;
    Setup changed = start_.setup();
    changed.engine.settings["max_num_seqs"] = "64";
    changed.engine.settings["max_num_batched_tokens"] = "2048";
    changed.engine.settings["enable_chunked_prefill"] = "true";
    const Bytes then = start_.pool_after(changed);
    if (then > start_.pool())
      add("--max-num-seqs 64 --max-num-batched-tokens 2048", changed, then,
          "fewer requests at once, slower prefill");
  }

  void smaller_cache() {
    if (start_.setup().deployment.cache.key->bits <= 8) return;
    const char* narrow = is_llama_family(start_.setup()) ? "q8_0" : "fp8";
    Setup changed = start_.setup();
    changed.deployment.cache = cache_formats(narrow);
    if (changed.engine.name == "llama.cpp") changed.engine.settings["flash_attn"] = "on";
    if (changed.engine.name == "ollama") changed.engine.settings["flash_attention"] = "true";
    try {
      add(with(names_.cache, narrow), changed, start_.pool(), "a little quality at long context");
    } catch (const Error&) {
      return;  // this model's cache has no such format here
    }
  }

  void shorter() {
    auto n = start_.longest(start_.setup(), start_.pool());
    if (const auto& own = start_.log().refusals.back().longest; own && n) n = own;
    if (n && *n >= kUseful && *n < start_.length())
      all_.push_back({with(names_.length, std::to_string(n->n)), true, n, "shorter requests"});
  }

  void fewer_layers() {
    if (start_.setup().engine.name != "llama.cpp") return;
    if (const auto layers = start_.fitting_layers())
      all_.push_back({with("--n-gpu-layers", std::to_string(*layers)), true, start_.length(),
                      "the other layers run on the host, slower"});
  }

  void more_gpus() {
    Setup changed = start_.setup();
    Parallelism& p = changed.deployment.parallel;
    for (int i = 0; i < 3; ++i) {
      (is_llama_family(changed) ? p.pp : p.tp) *= 2;
      try {
        validate(changed.model, p);
      } catch (const Error&) {
        return;  // heads or layers do not divide
      }
      const std::string count = std::to_string(p.tp * p.pp);
      const bool added = add(names_.gpus.empty() ? count + " GPUs" : with(names_.gpus, count),
                             changed, start_.pool_on_more_gpus(changed), "more GPUs");
      if (added && all_.back().fits) return;
    }
  }

  const RefusedStart& start_;
  Names names_;
  std::vector<Change> all_;
};

// Another program holds memory: a smaller share is what the engine can have.
void leave_to_others(const Refusal& r, const StartLog& log, const Names& names,
                     std::vector<Change>& changes) {
  if (r.cause != Refusal::device_in_use || !r.available || !log.device_memory ||
      log.device_memory->least.n <= 0)
    return;
  const double share = r.available->least.real() / log.device_memory->least.real();
  changes.insert(changes.begin(),
                 {with(names.utilization, hundredths(std::floor(share * 100) / 100)), true,
                  std::nullopt, "less cache; or end the other program"});
}

}  // namespace

std::optional<Remedy> remedy(const Setup& setup, const StartLog& log) {
  if (log.refusals.empty()) return std::nullopt;
  const RefusedStart start(setup, log);
  Remedy r;
  r.refusal = log.refusals.back();
  r.length = r.refusal.length.value_or(start.length());
  if (start.has_pool())
    r.changes = Changes(start).all();
  else
    r.needs = "DEVICE, or --kv-pool SIZE";
  leave_to_others(r.refusal, log, names_of(setup.engine.name), r.changes);
  return r;
}

}  // namespace kvplan
