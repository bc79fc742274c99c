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

namespace kvplan::testing {

GgufWriter file_of(const std::string& architecture, const Keys& keys) {
  GgufWriter w;
  w.text("general.architecture", architecture).tensor("token_embd.weight", {32, 4}, 8, 4 * 34);
  for (const auto& [key, value] : keys) w.u32(architecture + "." + key, value);
  return w;
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
