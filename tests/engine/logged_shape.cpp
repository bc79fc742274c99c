// SPDX-License-Identifier: Apache-2.0
#include "engine/logged_shape.h"

#include <fstream>
#include <sstream>

#include "engine/options.h"
#include "engine/shapes.h"

namespace kvplan::test {
namespace {

Recurrent recurrent_at(const Node& item) {
  const std::string kind = text_at(item, "recurrent");
  Recurrent r;
  r.kind = kind == "mamba1"            ? Recurrent::mamba1
           : kind == "mamba2"          ? Recurrent::mamba2
           : kind == "gated_delta_net" ? Recurrent::gated_delta_net
                                       : throw Error("unknown mixer '" + kind + "'");
  r.k_heads = integer_at(item, "k_heads");
  r.v_heads = integer_at(item, "v_heads");
  r.v_width = integer_at(item, "width");
  r.k_width = integer_at(item, "state", r.v_width);
  r.taps = integer_at(item, "taps");
  r.conv_channels = integer_at(item, "channels");
  return r;
}

Layer layer_at(const Node& item) {
  Layer layer;
  if (item.find("recurrent")) {
    layer.mixer.kind = recurrent_at(item);
    return layer;
  }
  layer.mixer.reach = {All{}};
  const std::int64_t width = integer_at(item, "width");
  if (item.find("latent")) {
    layer.mixer.kind =
        Latent{integer_at(item, "heads"), integer_at(item, "latent"), integer_at(item, "rope"),
               integer_at(item, "nope"), integer_at(item, "v_width")};
    if (const std::int64_t index = integer_at(item, "index")) {
      layer.mixer.sparse.emplace();
      layer.mixer.sparse->heads = 64;
      layer.mixer.sparse->width = index;
      layer.mixer.sparse->top_entries = 2048;
    }
    return layer;
  }
  const std::int64_t kv_heads = integer_at(item, "kv_heads");
  layer.mixer.kind = Attention{integer_at(item, "heads", kv_heads * 2), kv_heads, width,
                               integer_at(item, "v_width", width)};
  if (const std::int64_t window = integer_at(item, "window"))
    layer.mixer.reach = {Window{Tokens(window)}};
  return layer;
}

}  // namespace

std::vector<Node> truth_rows(const std::string& file) {
  std::ifstream in(std::string(KVPLAN_SOURCE_DIR "/tests/truth/") + file);
  std::stringstream text;
  text << in.rdbuf();
  return parse_yaml(text.str()).items;
}

std::string text_at(const Node& row, std::string_view key, const std::string& otherwise) {
  const Node* node = row.find(key);
  return node ? node->text : otherwise;
}

std::int64_t integer_at(const Node& row, std::string_view key, std::int64_t otherwise) {
  const Node* node = row.find(key);
  return node ? node->integer().value() : otherwise;
}

ModelSpec model_at(const Node& row) {
  ModelSpec model = model_of({});
  const Node* layers = row.find("layers");
  if (!layers) throw Error("a row without layers").of(text_at(row, "model"));
  for (const Node& item : layers->items)
    model.layers.insert(model.layers.end(), static_cast<std::size_t>(integer_at(item, "count")),
                        layer_at(item));
  return model;
}

EngineOptions options_at(const Node& row, std::string engine) {
  EngineOptions options = engine_options(engine);
  options.version = text_at(row, "version");
  if (const Node* set = row.find("set"))
    for (const auto& [key, value] : set->members) options.settings[key] = value.text;
  return options;
}

}  // namespace kvplan::test
