// SPDX-License-Identifier: Apache-2.0
#include "engine/llamacpp/placement.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "engine/llamacpp/rules.h"
#include "engine/llamacpp/tensor_names.h"
#include "engine/settings.h"

namespace kvplan::llamacpp {
namespace {

std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// "CPU", "CUDA0", "ROCm1", "Vulkan0": the host, or a GPU by its number.
std::optional<std::size_t> gpu_of(const std::string& buffer, std::size_t gpus) {
  if (buffer.starts_with("CPU") || buffer == "CUDA_Host") return std::nullopt;
  const auto digits = buffer.find_last_not_of("0123456789") + 1;
  std::size_t number = 0;
  const auto [end, failure] =
      std::from_chars(buffer.data() + digits, buffer.data() + buffer.size(), number);
  if (failure != std::errc() || end != buffer.data() + buffer.size() || number >= gpus)
    throw Error("there is no buffer '" + buffer.substr(0, 40) + "' here")
        .of("override_tensor")
        .advise("Write PATTERN=CPU, or PATTERN=CUDA0 for the first GPU.");
  return number;
}

std::vector<Override> overrides_of(const std::string& text, std::size_t gpus) {
  std::vector<Override> all;
  for (const std::string& item : between_commas(text)) {
    const auto equals = item.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw Error("expected PATTERN=BUFFER, got '" + item.substr(0, 80) + "'")
          .of("override_tensor")
          .advise("As in exps=CPU.");
    all.push_back({item.substr(0, equals), gpu_of(item.substr(equals + 1), gpus)});
    tensor_pattern(all.back().pattern);
  }
  return all;
}

std::vector<double> shares_of(const std::string& text, std::size_t gpus) {
  std::vector<double> shares;
  double sum = 0;
  for (const std::string& item : between_commas(text)) {
    double share = -1;
    const auto [end, failure] = std::from_chars(item.data(), item.data() + item.size(), share);
    if (failure != std::errc() || end != item.data() + item.size() || !(share >= 0) || share > 1e9)
      throw Error("expected shares with commas between, as in 3,1").of("tensor_split");
    shares.push_back(share);
    sum += share;
  }
  if (shares.size() > gpus || sum <= 0)
    throw Error(std::to_string(shares.size()) + " shares for " + std::to_string(gpus) + " GPUs")
        .of("tensor_split");
  shares.resize(gpus, 0);
  return shares;
}

// "99", "all", "auto", "-1" (automatic; all of them in older builds).
std::optional<std::int64_t> layers_of(const Settings& settings, const char* key,
                                      std::int64_t most) {
  const auto text = settings.text(key);
  if (!text || *text == "auto" || *text == "-1") return std::nullopt;
  if (*text == "all") return most;
  const auto n = settings.integer(key);
  if (*n < 0) throw Error("must be at least 0").of(key);
  return std::min(*n, most);
}

// Which part runs the layer of this number; the output has the last.
class Dealer {
 public:
  Dealer(const Split& split, std::int64_t layers, std::size_t gpus) : gpus_(gpus) {
    first_ = std::max<std::int64_t>(layers + split.output_first - split.gpu_layers, 0);
    on_gpus_ = gpus == 0 ? 0 : std::min(split.gpu_layers, layers + 1);
    for (std::size_t g = 0; g < gpus; ++g)
      ends_.push_back(split.shares.empty() ? 1 : static_cast<float>(split.shares[g]));
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    const float whole = gpus == 0 ? 1 : ends_.back();
    for (float& end : ends_) end /= whole;
  }

  std::size_t part(std::int64_t layer) const {
    if (layer < first_ || layer - first_ >= on_gpus_) return gpus_;
    const float at = static_cast<float>(layer - first_) / static_cast<float>(on_gpus_);
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), at);
    return std::min(static_cast<std::size_t>(found - ends_.begin()), gpus_ - 1);
  }

 private:
  std::size_t gpus_;
  std::int64_t first_ = 0, on_gpus_ = 0;
  std::vector<float> ends_;  // of each GPU's share, in [0, 1]
};

class Overrides {
 public:
  Overrides(const Split& split, std::size_t host) : host_(host) {
    for (const Override& o : split.overrides) all_.emplace_back(tensor_pattern(o.pattern), o.gpu);
  }
  std::size_t part(const Weight& w, std::size_t layer, std::size_t otherwise) const {
    if (all_.empty()) return otherwise;
    const std::string name = tensor_name(w, layer);
    for (const auto& [pattern, gpu] : all_)
      if (!name.empty() && std::regex_search(name, pattern)) return gpu.value_or(host_);
    return otherwise;
  }

 private:
  std::size_t host_;
  std::vector<std::pair<std::regex, std::optional<std::size_t>>> all_;
};

}  // namespace

std::int64_t countable_layers(const ModelSpec& model) {
  return static_cast<std::int64_t>(main_layers(model).size()) + 1;
}

bool splits(const EngineOptions& options) {
  for (const char* key : {"n_gpu_layers", "n_cpu_moe", "cpu_moe", "override_tensor",
                          "no_kv_offload", "no_op_offload", "tensor_split", "num_gpu"})
    if (options.settings.count(key)) return true;
  return false;
}

AskedSplit asked_split(const EngineOptions& options, const ModelSpec& model, std::size_t gpus) {
  const Settings settings(options);
  AskedSplit asked;
  const std::int64_t most = countable_layers(model);
  if (options.name == "ollama") {
    asked.gpu_layers = layers_of(settings, "num_gpu", most);
    asked.cpu_moe = 0;
    asked.cache_on_host = false;
    return asked;
  }
  asked.gpu_layers = layers_of(settings, "n_gpu_layers", most);
  asked.cpu_moe = layers_of(settings, "n_cpu_moe", most - 1);
  if (settings.boolean("cpu_moe").value_or(false)) asked.cpu_moe = most - 1;
  if (const auto text = settings.text("override_tensor"))
    asked.overrides = overrides_of(*text, gpus);
  asked.cache_on_host = settings.boolean("no_kv_offload");
  if (const auto text = settings.text("tensor_split")) asked.shares = shares_of(*text, gpus);
  if (settings.text("split_mode") == "none" && gpus > 1) {
    const std::int64_t main = settings.integer("main_gpu").value_or(0);
    if (main < 0 || main >= static_cast<std::int64_t>(gpus))
      throw Error("there is no GPU of this number").of("main_gpu");
    asked.shares = std::vector<double>(gpus, 0);
    (*asked.shares)[static_cast<std::size_t>(main)] = 1;
  }
  const Rules rules = rules_of(site_of(options).version);
  asked.output_first = rules.output_first;
  asked.copies_used_experts = rules.copies_used_experts;
  asked.copies_to_gpu = !settings.boolean("no_op_offload").value_or(false);
  return asked;
}

std::vector<std::int64_t> layers_by_gpu(const Split& split, std::int64_t countable,
                                        std::size_t gpus) {
  const Dealer dealer(split, countable - 1, gpus);
  std::vector<std::int64_t> counts(gpus);
  for (std::int64_t layer = 0; layer < countable; ++layer)
    if (const std::size_t part = dealer.part(layer); part < gpus) ++counts[part];
  return counts;
}

Assignment assignment_of(const ModelSpec& model, const Split& split, std::size_t gpus,
                         bool with_mtp) {
  const std::int64_t layers = countable_layers(model) - 1;
  const std::size_t host = gpus;
  const Dealer dealer(split, layers, gpus);
  const Overrides overrides(split, host);
  Assignment where;
  where.parts = gpus + 1;
  where.table = host;
  where.output = dealer.part(layers);
  where.vision = gpus > 0 ? 0 : host;
  std::int64_t number = 0;
  for (const Layer& layer : model.layers) {
    const bool main = layer.role == Layer::main;
    const std::size_t part = dealer.part(std::min(number, layers));
    auto& held = where.weights.emplace_back();
    for (const Weight& w : layer.weights) {
      const bool kept = w.role == Role::routed_expert && main && number < split.cpu_moe;
      held.push_back(overrides.part(w, static_cast<std::size_t>(number), kept ? host : part));
    }
    where.caches.push_back(split.cache_on_host ? host : part);
    where.unloaded.push_back(layer.role == Layer::mtp && !with_mtp);
    number += main;
  }
  return where;
}

}  // namespace kvplan::llamacpp
