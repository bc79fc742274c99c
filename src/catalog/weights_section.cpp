// SPDX-License-Identifier: Apache-2.0
#include "catalog/weights_section.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "catalog/huggingface/keys.h"
#include "catalog/tensor_roles.h"
#include "catalog/tensors.h"
#include "error.h"

namespace kvplan {
namespace {

using huggingface::Keys;
using Weights = std::vector<Weight>;

constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostRows = std::int64_t{1} << 48;
constexpr std::string_view kShardings[] = {"replicated", "split", "kv_heads"};  // as Sharding

// ---- writing

bool usually_multiplied(const Weight& w, const TensorRole& role) {
  return role.is_matrix && w.columns > 1 && !w.is_auxiliary;
}

// Whatever the module's name implies is left out.
Node node_of(const Weight& w) {
  const TensorRole* role = find_module(w.name);
  if (!role) throw Error("a weight of this name cannot be written").of(std::string(w.name));
  Node node = map();
  put(node, "name", word(w.name));
  if (w.role != role->role) put(node, "role", word(name_of(w.role)));
  put(node, "shape",
      w.columns == 1 ? list({whole_number(w.rows)})
                     : list({whole_number(w.rows), whole_number(w.columns)}));
  if (w.copies != 1) put(node, "copies", whole_number(w.copies));
  if (w.active != 1) put(node, "active", whole_number(w.active));
  put(node, "format", word(w.format->name));
  if (w.sharding != role->sharding)
    put(node, "sharding", word(kShardings[static_cast<std::size_t>(w.sharding)]));
  if (w.is_auxiliary) put(node, "auxiliary", flag(true));
  if (w.is_matrix != usually_multiplied(w, *role)) put(node, "matrix", flag(w.is_matrix));
  return node;
}

Node nodes_of(const Weights& weights) {
  Node all = list();
  for (const Weight& w : weights) all.items.push_back(node_of(w));
  return all;
}

auto fields(const Weight& w) {
  return std::tuple(w.name, w.role, w.rows, w.columns, w.sharding, w.copies, w.active, w.is_matrix,
                    w.format->name, w.is_auxiliary);
}

bool same(const Weights& a, const Weights& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Weight& x, const Weight& y) { return fields(x) == fields(y); });
}

// "0-3", "6".
Node ranges(const std::vector<std::size_t>& layers) {
  Node all = list();
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    Node range = whole_number(static_cast<std::int64_t>(layers[i]));
    if (end - i > 1) range.text += "-" + std::to_string(layers[end - 1]);
    all.items.push_back(std::move(range));
    i = end;
  }
  return all;
}

Node layers_section(const ModelSpec& model) {
  struct Alike {
    const Weights* weights;
    std::vector<std::size_t> layers;
  };
  std::vector<Alike> kinds;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Weights& weights = model.layers[i].weights;
    if (weights.empty()) continue;
    const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const Alike& k) { return same(*k.weights, weights); });
    if (kind == kinds.end())
      kinds.push_back({&weights, {i}});
    else
      kind->layers.push_back(i);
  }
  Node all = list();
  for (const Alike& kind : kinds) {
    Node one = map();
    put(one, "at", ranges(kind.layers));
    put(one, "tensors", nodes_of(*kind.weights));
    all.items.push_back(std::move(one));
  }
  return all;
}

// ---- reading

template <class Visit>
void for_each(const Keys& k, std::string_view key, Visit visit) {
  const Node* all = k.find({key});
  if (!all) return;
  if (all->kind != Node::list) k.refuse({key}, "expected a list");
  for (const Node& item : all->items) visit(item);
}

void refuse_unread(const Keys& k) {
  for (const Keys::Unread& key : k.unread())
    throw Error("this key is not known here").of(key.name).at_line(key.line);
}

Sharding sharding_of(const Keys& k, Sharding otherwise) {
  const std::string name = k.text({"sharding"});
  if (name.empty()) return otherwise;
  const auto at = std::find(std::begin(kShardings), std::end(kShardings), name);
  if (at == std::end(kShardings)) k.refuse({"sharding"}, "'" + name + "' is no sharding");
  return static_cast<Sharding>(at - std::begin(kShardings));
}

void read_shape(const Keys& k, Weight& w) {
  const Node& shape = k.required({"shape"});
  const std::size_t rank = shape.items.size();
  if (shape.kind != Node::list || rank < 1 || rank > 2)
    k.refuse({"shape"}, "expected one or two sizes");
  const auto size = [&](std::size_t i) {
    const auto n = shape.items[i].integer();
    if (!n || *n < 0 || *n > kMostRows) k.refuse({"shape"}, "a size is out of bounds");
    return *n;
  };
  w.rows = size(0);
  if (rank == 2) w.columns = size(1);
}

Weight weight_of(const Node& node) {
  const Keys k(node);
  const TensorRole* role = find_module(k.text({"name"}));
  if (!role) k.refuse({"name"}, "kv-plan does not know a weight of this name");
  Weight w;
  w.name = role->module;
  w.role = role->role;
  if (k.has({"role"})) {
    const auto named = find_role(k.text({"role"}));
    if (!named) k.refuse({"role"}, "there is no such role");
    w.role = *named;
  }
  read_shape(k, w);
  w.copies = k.integer({"copies"}, 0, kMostRows).value_or(1);
  w.active = k.integer({"active"}, 0, w.copies).value_or(1);
  w.format = find_format(k.text({"format"}));
  if (!w.format) k.refuse({"format"}, "there is no such format");
  w.sharding = sharding_of(k, role->sharding);
  w.is_auxiliary = k.flag({"auxiliary"});
  w.is_matrix = k.flag({"matrix"}, usually_multiplied(w, *role));
  refuse_unread(k);
  (void)stored_bytes(*w.format, w.rows, w.columns);  // fits
  return w;
}

Weights weights_of(const Keys& k, std::string_view key) {
  Weights weights;
  for_each(k, key, [&](const Node& node) { weights.push_back(weight_of(node)); });
  return weights;
}

struct Range {
  std::int64_t first = 0, last = 0;
};

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t n = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, n);
  if (text.empty() || failure != std::errc() || stop != end) return std::nullopt;
  return n;
}

Range range_of(const Node& node) {
  const std::string_view text = node.text;
  const auto dash = text.find('-');
  const auto first = whole(text.substr(0, dash));
  const auto last = dash == text.npos ? first : whole(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last >= kMostLayers)
    throw Error("'" + node.text.substr(0, 80) + "' is no range of layers")
        .of("at")
        .at_line(node.line);
  return {*first, *last};
}

void read_layers(const Keys& k, std::vector<Weights>& layers) {
  for_each(k, "layers", [&](const Node& node) {
    const Keys one(node);
    const Weights weights = weights_of(one, "tensors");
    for_each(one, "at", [&](const Node& item) {
      const Range range = range_of(item);
      if (range.last >= static_cast<std::int64_t>(layers.size()))
        layers.resize(static_cast<std::size_t>(range.last) + 1);
      for (std::int64_t i = range.first; i <= range.last; ++i) {
        Weights& layer = layers[static_cast<std::size_t>(i)];
        if (!layer.empty()) one.refuse({"at"}, "layer " + std::to_string(i) + " stands twice");
        layer = weights;
      }
    });
    refuse_unread(one);
  });
}

}  // namespace

Node weights_section(const ModelSpec& model) {
  Node section = map();
  if (model.tied_head) put(section, "tied_head", flag(true));
  if (model.head_once_more) put(section, "stored_twice", flag(true));
  put(section, "layers", layers_section(model));
  put(section, "ends", nodes_of(model.ends));
  if (!model.vision.empty()) put(section, "vision", nodes_of(model.vision));
  return section;
}

void use_weights_section(ModelSpec& model, const Node& section) {
  const Keys k(section);
  StoredWeights stored;
  read_layers(k, stored.layers);
  stored.ends = weights_of(k, "ends");
  stored.vision = weights_of(k, "vision");
  model.tied_head = k.flag({"tied_head"});
  model.head_once_more = k.flag({"stored_twice"});
  for_each(k, "remarks", [&](const Node& node) {
    const Keys remark(node);
    model.warnings.push_back({remark.text({"code"}), remark.text({"message"})});
  });
  refuse_unread(k);
  replace_weights(model, std::move(stored));
}

}  // namespace kvplan
