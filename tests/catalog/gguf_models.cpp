// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf_models.h"

#include <doctest/doctest.h>

#include "catalog/gguf.h"
#include "catalog/huggingface.h"
#include "catalog/model_entry.h"
#include "catalog/model_file.h"
#include "catalog/scratch.h"
#include "catalog/spec_text.h"
#include "catalog/yaml_writer.h"
#include "engine/logged_shape.h"

namespace kvplan::testing {
namespace {

// Lists shorter than the number of blocks stand for their pattern.
void add_list(GgufWriter& writer, const std::string& key, const Node& list, std::int64_t blocks) {
  std::vector<std::int32_t> numbers;
  const bool by_block = key.find("rope.") == key.npos;
  const std::size_t count = by_block ? static_cast<std::size_t>(blocks) : list.items.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Node& item = list.items[i % list.items.size()];
    numbers.push_back(item.text == "true" || item.text == "false"
                          ? item.text == "true"
                          : static_cast<std::int32_t>(item.integer().value_or(0)));
  }
  if (list.items[0].text == "true" || list.items[0].text == "false")
    writer.booleans(key, std::vector<int>(numbers.begin(), numbers.end()));
  else
    writer.i32s(key, numbers);
}

}  // namespace

GgufWriter file_of(const std::string& architecture, const Keys& keys) {
  GgufWriter w;
  w.text("general.architecture", architecture).tensor("token_embd.weight", {32, 4}, 8, 4 * 34);
  for (const auto& [key, value] : keys) w.u32(architecture + "." + key, value);
  return w;
}

GgufWriter file_of(const Node& row) {
  const std::string architecture = test::text_at(row, "architecture");
  GgufWriter writer = file_of(architecture, {});
  const Node& keys = *row.find("keys");
  const std::int64_t blocks = test::integer_at(keys, "block_count");
  for (const auto& [key, value] : keys.members) {
    const std::string name = architecture + "." + key;
    if (value.kind == Node::list)
      add_list(writer, name, value, blocks);
    else
      writer.u32(name, static_cast<std::uint32_t>(value.integer().value_or(0)));
  }
  return writer;
}

ModelSpec read(const GgufWriter& writer) {
  const Scratch scratch;
  return read_gguf(scratch.write("model.gguf", writer.file()));
}

std::vector<std::int32_t> repeat(const std::vector<std::int32_t>& pattern, std::size_t count) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(pattern[i % pattern.size()]);
  return out;
}

std::string layer_types(const std::vector<std::int32_t>& pattern, std::size_t count) {
  std::string out;
  for (const std::int32_t slides : repeat(pattern, count))
    out += std::string(out.empty() ? "" : ",") +
           (slides ? "\"sliding_attention\"" : "\"full_attention\"");
  return "[" + out + "]";
}

void check_caches(const GgufWriter& gguf, const std::string& config) {
  const ModelSpec from_gguf = read(gguf);
  ModelSpec from_config = read_huggingface(parse_json(config));
  std::erase_if(from_config.layers, [](const Layer& l) { return l.role == Layer::mtp; });
  CHECK(caches_text(from_gguf) == caches_text(from_config));
  CHECK(caches_text(from_gguf) != "");
}

void check_same(const GgufWriter& gguf, const std::string& config) {
  check_caches(gguf, config);
  const Scratch scratch;
  const std::string path = scratch.write("model.gguf", gguf.file());
  const ModelSpec from_gguf = read_gguf(path);
  for (const Warning& w : from_gguf.warnings) {
    CAPTURE(w.message);
    CHECK(w.code == "mtp-not-stored");
  }
  const std::string entry = to_yaml(model_entry(path).file);
  CAPTURE(entry);
  CHECK(spec_text(read_model(parse_yaml(entry))) == spec_text(from_gguf));
}

}  // namespace kvplan::testing
