// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_bytes.h"

#include <algorithm>
#include <limits>

#include "engine/llamacpp/memory.h"
#include "plan/layers_apart.h"

namespace kvplan {
namespace {

using namespace llamacpp;

bool alike(const DeviceSpec& a, const DeviceSpec& b) {
  return a.name == b.name && a.memory.value == b.memory.value &&
         a.bandwidth.value == b.bandwidth.value;
}

Bytes largest(const std::vector<Weight>& weights, bool routed) {
  Bytes most;
  for (const Weight& w : weights)
    if (w.is_matrix && (w.role == Role::routed_expert) == routed)
      most = std::max(most, llamacpp::held(w));
  return most;
}

}  // namespace

LayerBytes::LayerBytes(const Setup& setup, const Machine& machine, const PartAccount& account,
                       const Load& load)
    : model_(setup.model), machine_(machine), account_(account), load_(load) {
  const auto layers = static_cast<std::size_t>(countable_layers(model_) - 1);
  const BesideLayers with_experts{layers + 1, layers + 2, std::nullopt, std::nullopt};
  BesideLayers experts_apart = with_experts;
  experts_apart.experts = layers + 3;
  const auto unloaded = account.assigned(Split{}).unloaded;
  const CacheFormats& formats = setup.deployment.cache;
  const Serving& serving = account.serving();
  const auto whole =
      parts_of(model_, formats, serving, layers_apart(model_, layers, unloaded, with_experts));
  const auto apart =
      parts_of(model_, formats, serving, layers_apart(model_, layers, unloaded, experts_apart));
  const Cells cells = cells_of(serving, load.context, load.batch);
  for (std::size_t i = 0; i <= layers; ++i) {
    dense_.push_back(apart[i].weights);
    experts_.push_back(whole[i].weights - apart[i].weights);
    cache_.push_back(cache_bytes(whole[i], serving, cells));
    has_experts_ = has_experts_ || experts_.back().n > 0;
  }
  vision_ = whole[with_experts.vision].weights;
  if (machine.gpus.size() > 1) times_.emplace(setup, machine, load);
  for (const Layer& layer : model_.layers)
    if (layer.role == Layer::main) {
      largest_dense_.push_back(largest(layer.weights, false));
      largest_expert_.push_back(largest(layer.weights, true));
    }
  for (const Weight& w : model_.ends)
    if (w.role == Role::head || (w.role == Role::embedding && model_.tied_head))
      largest_output_ = std::max(largest_output_, llamacpp::held(w));
}

Bytes LayerBytes::on_gpu(std::int64_t layer, const Split& split) const {
  const auto i = static_cast<std::size_t>(layer);
  Bytes bytes = dense_[i];
  if (layer >= split.cpu_moe) bytes += experts_[i];
  if (!split.cache_on_host) bytes += cache_[i];
  return bytes;
}

Bytes LayerBytes::host_matrix(const Split& split, std::int64_t first, bool output) const {
  Bytes most = output ? largest_output_ : Bytes(0);
  for (std::int64_t layer = 0; layer < layers(); ++layer) {
    const auto i = static_cast<std::size_t>(layer);
    if (layer < first) most = std::max(most, largest_dense_[i]);
    if (layer < first || layer < split.cpu_moe) most = std::max(most, largest_expert_[i]);
  }
  return most;
}

std::optional<std::vector<Bytes>> LayerBytes::rooms(const Split& split, Range on) const {
  constexpr Bytes kPlenty{std::int64_t{1} << 60};
  const Bytes matrix = host_matrix(split, on.first, on.end <= layers());
  std::vector<Bytes> room;
  for (std::size_t g = 0; g < machine_.gpus.size(); ++g) {
    room.push_back(machine_.memory(g).value_or(kPlenty) -
                   account_.overhead(g, matrix, load_.context, load_.batch));
    if (g == 0) room[0] -= vision_;
    if (room[g].n < 0) return std::nullopt;
  }
  return room;
}

LayerBytes::Range LayerBytes::range_of(const Split& split) const {
  const std::int64_t all = layers() + 1, n = std::min(split.gpu_layers, all);
  const std::int64_t first = std::max<std::int64_t>(layers() + split.output_first - n, 0);
  return {first, std::min(first + n, all)};
}

bool LayerBytes::fits(const Split& split, Range on, const Counts& counts,
                      std::vector<Bytes> room) const {
  std::int64_t layer = on.first;
  for (std::size_t g = 0; g < room.size(); ++g)
    for (std::int64_t k = 0; k < counts[g]; ++k) {
      room[g] -= on_gpu(layer++, split);
      if (room[g].n < 0) return false;
    }
  return true;
}

// GPUs hold runs of layers in order: where each takes as many as it can, all fit if they ever do.
bool LayerBytes::can_fill(const Split& split, Range on, std::vector<Bytes> room) const {
  std::size_t gpu = 0;
  for (std::int64_t layer = on.first; layer < on.end; ++layer) {
    const Bytes bytes = on_gpu(layer, split);
    while (gpu < room.size() && bytes > room[gpu]) ++gpu;
    if (gpu == room.size()) return false;
    room[gpu] -= bytes;
  }
  return true;
}

bool LayerBytes::has_room(const Split& split) const {
  const Range on = range_of(split);
  const auto room = rooms(split, on);
  if (!room) return false;
  const bool open = split.shares.empty() && machine_.gpus.size() > 1;
  return open ? can_fill(split, on, *room) : fits(split, on, counts_of(split), *room);
}

std::optional<Split> LayerBytes::dealt(const Split& split) const {
  const Range on = range_of(split);
  const auto room = rooms(split, on);
  const Counts counts = counts_of(split);
  if (!room || !fits(split, on, counts, *room)) return std::nullopt;
  Split found = split;
  if (machine_.gpus.size() > 1 && split.shares.empty())
    found.shares.assign(counts.begin(), counts.end());
  return found;
}

// What the host takes when the first h layers are its own, and of the others what they leave to it.
std::vector<double> LayerBytes::times_of_host(const Split& split) const {
  std::vector<double> seconds(static_cast<std::size_t>(layers()) + 1);
  for (std::int64_t i = 0; i < layers(); ++i) seconds[0] += times_->left_to_host(i, split).v;
  for (std::int64_t h = 0; h < layers(); ++h)
    seconds[static_cast<std::size_t>(h) + 1] = seconds[static_cast<std::size_t>(h)] -
                                               times_->left_to_host(h, split).v +
                                               times_->on_host(h).v;
  return seconds;
}

// How many of the first k layers each GPU has where the last of them ends at k.
struct LayerBytes::Runs {
  std::vector<std::vector<std::size_t>> of_gpu;
  double seconds = 0;
};

// GPU after GPU, the least time for the first k layers over all divisions into runs with room.
// `least[h]` is that of the host for the first h; the output comes last.
std::optional<LayerBytes::Runs> LayerBytes::best_runs(const Split& split,
                                                      std::vector<double> least) const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto n = static_cast<std::size_t>(layers()) + 1;
  least.resize(n + 1, kNever);
  Runs runs;
  std::vector<Bytes> room;
  for (std::size_t g = 0; g < machine_.gpus.size(); ++g) {
    std::vector<double> next(n + 1, kNever);
    auto& run = runs.of_gpu.emplace_back(n + 1, 0);
    for (std::size_t from = 0; from <= n; ++from) {
      if (least[from] == kNever) continue;
      // The first GPU copies what the host holds, which depends on where it begins.
      if (g == 0) {
        const auto rooms_here =
            rooms(split, {static_cast<std::int64_t>(from), static_cast<std::int64_t>(n)});
        if (!rooms_here) continue;
        room = *rooms_here;
      }
      Bytes left = room[g];
      double seconds = least[from];
      for (std::size_t to = from; left.n >= 0; ++to) {
        if (seconds < next[to]) next[to] = seconds, run[to] = to - from;
        if (to == n) break;
        const auto layer = static_cast<std::int64_t>(to);
        left -= on_gpu(layer, split);
        seconds += times_->on_gpu(g, layer, split).v;
      }
    }
    least = std::move(next);
  }
  runs.seconds = least[n];
  return runs.seconds < kNever ? std::optional(std::move(runs)) : std::nullopt;
}

std::optional<LayerBytes::Division> LayerBytes::fastest(
    Split split, std::optional<std::int64_t> gpu_layers) const {
  if (!times_ || !split.output_first) return std::nullopt;
  const std::int64_t all = layers() + 1;
  std::vector<double> host = times_of_host(split);
  for (std::int64_t h = 0; h <= layers() && gpu_layers; ++h)
    if (h != std::max<std::int64_t>(all - *gpu_layers, 0))
      host[static_cast<std::size_t>(h)] = std::numeric_limits<double>::infinity();
  const auto runs = best_runs(split, std::move(host));
  if (!runs) return std::nullopt;
  split.shares.assign(machine_.gpus.size(), 0);
  split.gpu_layers = 0;
  std::size_t end = static_cast<std::size_t>(all);
  for (std::size_t g = machine_.gpus.size(); g-- > 0; end -= runs->of_gpu[g][end]) {
    split.shares[g] = static_cast<double>(runs->of_gpu[g][end]);
    split.gpu_layers += static_cast<std::int64_t>(runs->of_gpu[g][end]);
  }
  return Division{evened(std::move(split)), Seconds(runs->seconds)};
}

// Equal GPUs in a row share their layers, where each has the room: a step takes as long, prompts
// and long contexts have both.
Split LayerBytes::evened(Split split) const {
  const Split as_found = split;
  const auto& gpus = machine_.gpus;
  for (std::size_t first = 0, end = 0; first < gpus.size(); first = end) {
    std::int64_t layers = 0;
    for (end = first; end < gpus.size() && alike(gpus[end], gpus[first]); ++end)
      layers += static_cast<std::int64_t>(split.shares[end]);
    const auto count = static_cast<std::int64_t>(end - first);
    for (std::int64_t g = 0; g < count; ++g) {
      const std::int64_t share = layers * (g + 1) / count - layers * g / count;
      split.shares[first + static_cast<std::size_t>(g)] = static_cast<double>(share);
    }
  }
  return has_room(split) ? split : as_found;
}

// As the engine deals them: by the shares, or by the memory of the GPUs.
std::vector<std::int64_t> LayerBytes::counts_of(Split split) const {
  if (split.shares.empty())
    for (const DeviceSpec& gpu : machine_.gpus) split.shares.push_back(gpu.memory.value.real());
  return layers_by_gpu(split, layers() + 1, machine_.gpus.size());
}

}  // namespace kvplan
