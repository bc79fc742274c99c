// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_bytes.h"

#include <algorithm>

#include "engine/llamacpp/memory.h"

namespace kvplan {
namespace {

using namespace llamacpp;

// Every main layer a part of its own; then the output (with draft layers), the host, the tower, and
// the routed experts of all layers where they are kept apart.
struct Apart {
  std::size_t output, host, vision, experts;
};

Assignment each_apart(const ModelSpec& model, const std::vector<bool>& unloaded, const Apart& at,
                      bool experts_apart) {
  Assignment where;
  where.parts = at.experts + 1;
  where.table = at.host;
  where.output = at.output;
  where.vision = at.vision;
  where.unloaded = unloaded;
  std::size_t number = 0;
  for (const Layer& layer : model.layers) {
    const std::size_t part = std::min(number, at.output);
    auto& held = where.weights.emplace_back();
    for (const Weight& w : layer.weights)
      held.push_back(experts_apart && w.role == Role::routed_expert ? at.experts : part);
    where.caches.push_back(part);
    number += layer.role == Layer::main;
  }
  return where;
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
  const Apart at{layers, layers + 1, layers + 2, layers + 3};
  const auto unloaded = account.assigned(Split{}).unloaded;
  const CacheFormats& formats = setup.deployment.cache;
  const Serving& serving = account.serving();
  const auto whole = parts_of(model_, formats, serving, each_apart(model_, unloaded, at, false));
  const auto apart = parts_of(model_, formats, serving, each_apart(model_, unloaded, at, true));
  const Cells cells = cells_of(serving, load.context, load.batch);
  for (std::size_t i = 0; i <= layers; ++i) {
    dense_.push_back(apart[i].weights);
    experts_.push_back(whole[i].weights - apart[i].weights);
    cache_.push_back(cache_bytes(whole[i], serving, cells));
    has_experts_ = has_experts_ || experts_.back().n > 0;
  }
  vision_ = whole[at.vision].weights;
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

bool LayerBytes::has_room(const Split& split, Range on, const Counts& counts,
                          std::vector<Bytes> room) const {
  std::int64_t layer = on.first;
  for (std::size_t g = 0; g < room.size(); ++g)
    for (std::int64_t k = 0; k < counts[g]; ++k) {
      room[g] -= on_gpu(layer++, split);
      if (room[g].n < 0) return false;
    }
  return true;
}

std::optional<LayerBytes::Counts> LayerBytes::filled(const Split& split, Range on,
                                                     std::vector<Bytes> room,
                                                     bool from_last) const {
  Counts counts(room.size());
  std::size_t tried = 0;
  for (std::int64_t k = 0; k < on.end - on.first; ++k) {
    const Bytes bytes = on_gpu(from_last ? on.end - 1 - k : on.first + k, split);
    const auto gpu = [&] { return from_last ? room.size() - 1 - tried : tried; };
    while (tried < room.size() && bytes > room[gpu()]) ++tried;
    if (tried == room.size()) return std::nullopt;
    room[gpu()] -= bytes;
    ++counts[gpu()];
  }
  return counts;
}

std::vector<LayerBytes::Counts> LayerBytes::dealt(const Split& split) const {
  const std::int64_t all = layers() + 1, n = std::min(split.gpu_layers, all);
  const std::int64_t first = std::max<std::int64_t>(layers() + split.output_first - n, 0);
  const Range on{first, std::min(first + n, all)};
  const auto room = rooms(split, on);
  std::vector<Counts> found;
  if (!room) return found;
  if (Counts counts = counts_of(split); has_room(split, on, counts, *room))
    found.push_back(std::move(counts));
  if (!split.shares.empty() || machine_.gpus.size() < 2) return found;
  for (const bool from_last : {false, true})
    if (auto counts = filled(split, on, *room, from_last)) found.push_back(std::move(*counts));
  return found;
}

// As the engine deals them: by the shares, or by the memory of the GPUs.
std::vector<std::int64_t> LayerBytes::counts_of(Split split) const {
  if (split.shares.empty())
    for (const DeviceSpec& gpu : machine_.gpus) split.shares.push_back(gpu.memory.value.real());
  return layers_by_gpu(split, layers() + 1, machine_.gpus.size());
}

}  // namespace kvplan
