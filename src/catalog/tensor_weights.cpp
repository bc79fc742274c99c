// SPDX-License-Identifier: Apache-2.0
// From the tensors of a file to the weights of a model.
#include <algorithm>
#include <map>
#include <numeric>

#include "catalog/tensors.h"

namespace kvplan {
namespace {

using Weights = std::vector<Weight>;

std::int64_t product(const std::vector<std::int64_t>& shape, std::size_t first, std::size_t end) {
  std::int64_t n = 1;
  for (std::size_t i = first; i < end; ++i) n = checked_mul(n, shape[i]);
  return n;
}

bool is_bias(const Tensor& t) { return t.name.ends_with("bias"); }

// Stacked experts are copies; so are stacked matrices with scales of their own.
std::size_t copied_dimensions(const Tensor& t, const TensorRole& role, bool vector) {
  const std::size_t rank = t.shape.size();
  if (rank >= 3 && (t.format->scales.rows != 0 || t.format->tensor_bytes != 0)) return rank - 2;
  const bool stacked = role.role == Role::routed_expert && !t.place.expert;
  return stacked && rank >= (vector ? 2 : 3) ? 1 : 0;
}

// The last dimension is contiguous: columns. All others that are not copied are rows.
Weight weight_of(const Tensor& t) {
  const TensorRole& role = t.place.role ? *t.place.role : kUnknownRole;
  Weight w;
  w.name = role.module;
  w.role = role.role;
  w.sharding = role.sharding;
  w.format = t.format;
  w.is_auxiliary = t.parameters == 0;
  const bool vector = !role.is_matrix || is_bias(t) || w.is_auxiliary;
  const std::size_t rank = t.shape.size();
  const std::size_t first = copied_dimensions(t, role, vector);
  w.copies = w.active = product(t.shape, 0, first);
  if (rank - first >= 2 || (rank > first && t.format->block_elements > 1)) {
    w.rows = product(t.shape, first, rank - 1);
    w.columns = t.shape.back();
  } else {
    w.rows = product(t.shape, first, rank);
  }
  w.is_matrix = !vector && rank - first >= 2;
  return w;
}

bool same(const Weight& a, const Weight& b) {
  return a.name == b.name && a.role == b.role && a.rows == b.rows && a.columns == b.columns &&
         a.format == b.format && a.is_matrix == b.is_matrix && a.is_auxiliary == b.is_auxiliary;
}

// A layer has some tens of different tensors, counted with all that are equal to one of them.
constexpr std::size_t kMostDifferent = 10'000;

void add(Weights& weights, const Weight& w) {
  const auto found = std::find_if(weights.begin(), weights.end(),
                                  [&](const Weight& other) { return same(other, w); });
  if (found == weights.end()) {
    if (weights.size() >= kMostDifferent)
      throw Error("more than 10,000 different tensors in one layer")
          .advise("No model that kv-plan knows of has so many: is the file what it claims to be?");
    return weights.push_back(w);
  }
  found->copies = checked_add(found->copies, w.copies);
  found->active = checked_add(found->active, w.active);
}

// One product may compute queries, keys and values; KV heads shard differently.
void add_split(Weights& weights, const Weight& w, const Mixer& mixer) {
  const auto* a = std::get_if<Attention>(&mixer.kind);
  const bool fused = a && w.name == "self_attn.qkv_proj" && w.format->scales.rows == 0 &&
                     w.format->tensor_bytes == 0;
  const std::int64_t k = fused ? checked_mul(a->kv_heads, a->k_width) : 0;
  const std::int64_t v = fused ? checked_mul(a->kv_heads, a->v_width) : 0;
  if (!fused || w.rows - k - v != checked_mul(a->heads, a->k_width)) return add(weights, w);
  Weight part = w;
  for (const auto& [name, rows, sharding] :
       {std::tuple{"self_attn.q_proj", w.rows - k - v, Sharding::split},
        std::tuple{"self_attn.k_proj", k, Sharding::kv_heads},
        std::tuple{"self_attn.v_proj", v, Sharding::kv_heads}}) {
    part.name = name;
    part.rows = rows;
    part.sharding = sharding;
    add(weights, part);
  }
}

Routing routing_of(const Weights& weights) {
  for (const Weight& w : weights)
    if (w.role == Role::routed_expert) return {w.active, w.copies};
  return {};
}

// All experts alike: the configured choice. A part of them in a format of its own: their share.
void route(Weights& weights, const Routing& routing) {
  if (routing.experts == 0) return;
  for (Weight& w : weights)
    if (w.role == Role::routed_expert && w.copies > 1)
      w.active = std::min(w.copies, mul_div(w.copies, routing.active, routing.experts));
}

// Prediction layers that the configuration does not mention look at the past like the last layer
// that keeps a cache.
Layer extra_layer(const ModelSpec& model) {
  Layer layer;
  layer.role = Layer::mtp;
  for (const Layer& other : model.layers)
    if (!std::holds_alternative<Recurrent>(other.mixer.kind)) layer.mixer = other.mixer;
  return layer;
}

class Assembly {
 public:
  Assembly(ModelSpec& model, Routing routing) : model_(model), routing_(routing) {
    std::int64_t number = 0;
    for (const Layer& layer : model.layers) {
      main_ += layer.role == Layer::main;
      if (layer.role == Layer::encoder && !first_of_encoder_) first_of_encoder_ = number;
      if (routing_.experts == 0) routing_ = routing_of(layer.weights);
      ++number;
    }
    stored_.layers.resize(model.layers.size());
  }

  void add_tensor(const Tensor& t) {
    if (t.in_format) return;
    Weight w = weight_of(t);
    if (t.place.section == TensorPlace::vision || w.role == Role::vision)
      return add(stored_.vision, w);
    const auto index = layer_index(t.place);
    if (!index) return add(stored_.ends, w);
    const auto at = static_cast<std::size_t>(*index);
    if (at >= stored_.layers.size()) stored_.layers.resize(at + 1);
    static const Mixer kNone;
    const Mixer& mixer = at < model_.layers.size() ? model_.layers[at].mixer : kNone;
    if (std::holds_alternative<Recurrent>(mixer.kind) && w.role == Role::attention) {
      w.role = Role::state;  // the names of its projections are those of attention
      if (w.sharding == Sharding::kv_heads) w.sharding = Sharding::split;
    }
    add_split(stored_.layers[at], w, mixer);
  }

  void finish() {
    for (Weights& layer : stored_.layers) route(layer, routing_);
    // Whoever looks for the token table takes the first one.
    std::stable_partition(stored_.ends.begin(), stored_.ends.end(),
                          [](const Weight& w) { return w.name == "embed_tokens"; });
    if (replace_weights(model_, std::move(stored_)) > 0)
      model_.warnings.push_back({"mtp-not-stored",
                                 "the file does not store the prediction layers that its "
                                 "configuration mentions"});
  }

 private:
  std::optional<std::int64_t> layer_index(const TensorPlace& place) const {
    if (place.section == TensorPlace::mtp) return checked_add(main_, place.layer.value_or(0));
    if (place.layer && place.of_encoder && first_of_encoder_)
      return checked_add(*first_of_encoder_, *place.layer);
    return place.layer;
  }

  ModelSpec& model_;
  std::int64_t main_ = 0;
  std::optional<std::int64_t> first_of_encoder_;
  StoredWeights stored_;
  Routing routing_;
};

constexpr std::int64_t kMostExtraLayers = 64;

void check_layers(const ModelSpec& model, const TensorTable& table) {
  const auto most = checked_add(static_cast<std::int64_t>(model.layers.size()), kMostExtraLayers);
  for (const Tensor& t : table.tensors)
    if (t.place.section != TensorPlace::vision && t.place.layer.value_or(0) >= most)
      throw Error("the tensor belongs to layer " + std::to_string(*t.place.layer) +
                  ", the model has " + std::to_string(model.layers.size()))
          .of(t.name);
}

bool has_head(const Weights& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [](const Weight& w) { return w.role == Role::head && w.is_matrix; });
}

// A tied head that is stored all the same is the table once more on disk, not in memory.
void settle_head(ModelSpec& model) {
  if (model.tied_head && has_head(model.ends)) {
    std::erase_if(model.ends, [](const Weight& w) { return w.role == Role::head && w.is_matrix; });
    model.head_once_more = true;
    model.warnings.push_back(
        {"tied-head-stored", "the head is tied to the embedding table, the file stores it too"});
  } else if (!model.tied_head && !has_head(model.ends)) {
    model.tied_head = true;
    model.warnings.push_back(
        {"head-not-stored", "the file stores no head: the embedding table is taken for it"});
  }
}

void warn_of_unknown(ModelSpec& model, const TensorTable& table) {
  std::int64_t count = 0;
  Bytes bytes;
  const Tensor* first = nullptr;
  for (const Tensor& t : table.tensors) {
    if (t.place.role) continue;
    if (!first) first = &t;
    ++count;
    bytes += t.bytes;
  }
  if (first)
    model.warnings.push_back(
        {"unknown-tensors", std::to_string(count) + " tensors of " + std::to_string(bytes.n) +
                                " bytes have names that kv-plan does not know, the first is '" +
                                first->name + "': counted as read by every step"});
}

}  // namespace

std::size_t replace_weights(ModelSpec& model, StoredWeights stored) {
  stored.layers.resize(std::max(stored.layers.size(), model.layers.size()));
  for (std::size_t i = 0; i < stored.layers.size(); ++i) {
    if (i >= model.layers.size()) model.layers.push_back(extra_layer(model));
    model.layers[i].weights = std::move(stored.layers[i]);
  }
  model.ends = std::move(stored.ends);
  model.vision = std::move(stored.vision);
  return std::erase_if(model.layers, [](const Layer& layer) {
    return layer.role == Layer::mtp && layer.weights.empty();
  });
}

void use_tensors(ModelSpec& model, const TensorTable& table, Routing routing) {
  model.warnings.insert(model.warnings.end(), table.warnings.begin(), table.warnings.end());
  if (!table.complete) return;
  check_layers(model, table);
  warn_of_unknown(model, table);
  Assembly assembly(model, routing);
  for (const Tensor& t : table.tensors) assembly.add_tensor(t);
  assembly.finish();
  settle_head(model);
}

}  // namespace kvplan
