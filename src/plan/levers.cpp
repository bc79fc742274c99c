// SPDX-License-Identifier: Apache-2.0
#include "plan/levers.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cost/decode.h"
#include "cost/prefill.h"
#include "model/recipe.h"
#include "plan/layouts.h"
#include "plan/room.h"
#include "plan/speculation.h"

namespace kvplan {
namespace {

constexpr double kWorthwhile = 1.02;
constexpr double kAcceptance =
    0.7;  // assumed: usual for a small draft model (Leviathan et al. 2023, table 3: 0.5 to 0.9)
constexpr std::int64_t kDrafted = 4;
constexpr double kLaunchSeconds =
    3e-6;  // one kernel launched by the host (measured 2 to 4 µs on A100 and H100)
constexpr double kKernelsPerLayer = 10;

double ratio(double after, double before) { return before > 0 ? after / before : 1; }

Lever compared(std::string name, std::string how, const Outcome& before, const Outcome& after,
               std::string remark = {}) {
  Lever lever;
  lever.name = std::move(name);
  lever.how = std::move(how);
  lever.after = after;
  if (before.tokens_per_second && after.tokens_per_second)
    lever.speed_gain = ratio(*after.tokens_per_second, *before.tokens_per_second);
  if (before.users && after.users)
    lever.capacity_gain =
        ratio(static_cast<double>(*after.users), static_cast<double>(*before.users));
  lever.makes_it_fit = after.fits && !before.fits;
  lever.helps =
      lever.makes_it_fit || lever.speed_gain >= kWorthwhile || lever.capacity_gain >= kWorthwhile;
  lever.remark = std::move(remark);
  if (!lever.helps && lever.remark.empty()) lever.remark = "the bottleneck is elsewhere";
  return lever;
}

// Average bits of a stored weight.
double weight_bits(const ModelSpec& model) {
  double bits = 0, elements = 0;
  for (const Layer& layer : model.layers)
    for (const Weight& w : layer.weights) {
      if (!w.is_matrix) continue;
      const auto n = static_cast<double>(w.elements());
      bits += n * w.format->bits;
      elements += n;
    }
  return elements > 0 ? bits / elements : 16;
}

bool runs_gguf(const Setup& setup) {
  return setup.engine.name == "llama.cpp" || setup.engine.name == "ollama";
}

class Levers {
 public:
  explicit Levers(const LeverQuestion& question)
      : q_(question), before_(outcome(question.setup, question.load)) {}

  std::vector<Lever> all() {
    weights();
    cache();
    more_gpus();
    batch();
    speculation();
    graphs();
    shared_prefix();
    std::stable_sort(found_.begin(), found_.end(), [](const Lever& a, const Lever& b) {
      if (a.makes_it_fit != b.makes_it_fit) return a.makes_it_fit;
      return std::max(a.speed_gain, a.capacity_gain) > std::max(b.speed_gain, b.capacity_gain);
    });
    return std::move(found_);
  }

 private:
  // Evaluates a changed setup; one that the engine or the model refuses is no lever.
  void attempt(std::string name, std::string how, std::string remark,
               const std::function<void(Setup&, Load&)>& change) {
    Setup setup = q_.setup;
    Load load = q_.load;
    try {
      change(setup, load);
      found_.push_back(compared(std::move(name), std::move(how), before_, outcome(setup, load),
                                std::move(remark)));
    } catch (const Error&) {
    }
  }

  void weights() {
    const double bits = weight_bits(q_.setup.model);
    struct Choice {
      std::string_view recipe;
      double bits;
    };
    const bool gguf = runs_gguf(q_.setup);
    for (const Choice& c : gguf ? std::vector<Choice>{{"q8_0", 8.5}, {"q4_k_m", 4.9}}
                                : std::vector<Choice>{{"fp8", 8}, {"int4-g128", 4.2}}) {
      if (c.bits > bits * 0.95) continue;
      attempt(std::string(c.recipe) + " weights", "--weights " + std::string(c.recipe),
              c.bits < 6 ? "costs some quality: evaluate it on your task" : "",
              [&](Setup& s, Load&) { s.model = apply_recipe(q_.as_read, c.recipe); });
    }
  }

  void cache() {
    const Format* key = q_.setup.deployment.cache.key;
    if (key && key->bits < 16) return;
    const std::string_view format = runs_gguf(q_.setup) ? "q8_0" : "fp8";
    attempt(std::string(format) + " KV cache", "--kv " + std::string(format), "",
            [&](Setup& s, Load&) { s.deployment.cache = cache_formats(format); });
  }

  void more_gpus() {
    const std::int64_t gpus = q_.setup.deployment.parallel.gpus();
    if (gpus >= 64) return;
    attempt("twice the GPUs", "--gpus " + std::to_string(2 * gpus), "", [&](Setup& s, Load&) {
      const auto choices = layouts_of(s, 2 * gpus);
      if (choices.empty()) throw Error("no layout");
      s.deployment.parallel = choices.front();
    });
  }

  // Continuous batching: as many sequences as fit share each read of the weights.
  void batch() {
    if (!before_.users || *before_.users <= q_.load.batch) return;
    attempt("a batch of " + std::to_string(*before_.users),
            "--batch " + std::to_string(*before_.users), "tokens per second of all users together",
            [&](Setup&, Load& load) { load.batch = *before_.users; });
  }

  // A pass verifies k + 1 tokens per sequence; while weight reads bind, it costs little more than
  // one token's step.
  void speculation() {
    if (!before_.tokens_per_second) return;
    const DecodeModel decode(q_.setup.model, q_.setup.deployment, q_.setup.device.value());
    const auto plain = decode.at(q_.load.context, q_.load.batch).seconds,
               verify = decode.at(q_.load.context, q_.load.batch * (kDrafted + 1)).seconds;
    if (!plain || !verify) return;
    Outcome after = before_;
    const double gain =
        speculative_speedup(kAcceptance, kDrafted, 0.05, std::max(1.0, *verify / *plain));
    after.tokens_per_second = *before_.tokens_per_second * gain;
    found_.push_back(compared("speculative decoding",
                              "a draft of 4 tokens, 70 % accepted, at 5 % of a step's cost each",
                              before_, after));
    found_.back().basis = Basis::assumed;
  }

  void graphs() {
    if (!before_.tokens_per_second) return;
    const double step = static_cast<double>(q_.load.batch) / *before_.tokens_per_second;
    const double launches =
        static_cast<double>(main_layers(q_.setup.model).size()) * kKernelsPerLayer * kLaunchSeconds;
    Lever lever = compared("CUDA graphs and fused kernels",
                           "on by default; --enforce-eager turns graphs off", before_, before_);
    lever.speed_gain =
        1 + launches / step;  // over an engine that launches each kernel from the host
    lever.helps = lever.speed_gain >= kWorthwhile;
    lever.remark = "against ten launches of 3 µs per layer from the host";
    lever.basis = Basis::assumed;
    found_.push_back(std::move(lever));
  }

  void shared_prefix() {
    if (q_.load.batch < 2 || q_.setup.deployment.shared_prefix.n > 0) return;
    const Tokens half(q_.load.context.n / 2);
    attempt("a shared prefix of half the context", "--shared-prefix " + std::to_string(half.n),
            "where requests begin alike (system prompt, documents)",
            [&](Setup& s, Load&) { s.deployment.shared_prefix = half; });
    if (!found_.empty()) found_.back().basis = Basis::assumed;
  }

  const LeverQuestion& q_;
  Outcome before_;
  std::vector<Lever> found_;
};

}  // namespace

Outcome outcome(const Setup& setup, const Load& load) {
  Outcome result;
  const Room room(setup);
  result.fits = room.holds(load);
  result.users = room.largest_batch(load.context);
  const DecodeModel decode(setup.model, setup.deployment, *setup.device);
  if (const auto seconds = decode.at(load.context, load.batch).seconds)
    result.tokens_per_second = static_cast<double>(load.batch) / seconds->v;
  return result;
}

std::vector<Lever> levers(const LeverQuestion& question) { return Levers(question).all(); }

}  // namespace kvplan
