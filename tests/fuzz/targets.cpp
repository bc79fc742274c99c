// SPDX-License-Identifier: Apache-2.0
#include "fuzz/targets.h"

#include <sstream>
#include <string>

#include "calibrate/csv.h"
#include "catalog/device_file.h"
#include "catalog/engine_file.h"
#include "catalog/gguf.h"
#include "catalog/gguf/file.h"
#include "catalog/huggingface.h"
#include "catalog/model_file.h"
#include "catalog/node.h"
#include "catalog/profile_file.h"
#include "catalog/safetensors/header.h"
#include "catalog/safetensors/index.h"
#include "catalog/safetensors/packing.h"
#include "catalog/weights_section.h"
#include "catalog/yaml_writer.h"
#include "engine/command_line.h"
#include "engine/flags.h"
#include "engine/options.h"
#include "error.h"
#include "logs/read.h"
#include "model/cache.h"
#include "model/parameters.h"
#include "model/recipe.h"

namespace kvplan::fuzz {
namespace {

void promise(bool kept, const char* what) {
  if (!kept) throw Broken(what);
}

// What has been read once must read again.
template <class Read>
auto again(Read read) {
  try {
    return read();
  } catch (const Error& e) {
    throw Broken(std::string("what was written is refused: ") + e.what());
  }
}

bool same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  for (std::size_t i = 0; i < a.members.size(); ++i)
    if (a.members[i].key != b.members[i].key || !same(a.members[i].value, b.members[i].value))
      return false;
  return true;
}

void use(const Node& node) {
  const auto ask = [&](auto question) {
    try {
      (void)question();
    } catch (const Error&) {
    }
  };
  ask([&] { return node.integer(); });
  ask([&] { return node.number(); });
  ask([&] { return node.boolean(); });
  for (const Node& item : node.items) use(item);
  for (const auto& [key, value] : node.members) use(value);
}

// What a command does with a model that was read.
void use(ModelSpec model) {
  model = apply_recipe(std::move(model), "config");
  const Parameters p = count_parameters(model);
  promise(p.total >= 0 && p.active >= 0 && p.mtp >= 0, "a negative count of parameters");
  Bytes sum;
  for (const RoleBytes& role : weights_by_role(model)) sum += role.bytes;
  promise(sum == resident_weights(model), "roles do not add up");
  for (const CacheGroup& group : cache_groups(model, cache_formats("bf16"), true))
    promise(stored_bytes(group, Tokens(1000)) >= Bytes(0), "a negative cache");
}

void json(std::string_view bytes) {
  const Node node = parse_json(bytes);
  use(node);
  if (node.kind != Node::map || node.members.empty()) return;
  promise(same(again([&] { return parse_yaml(to_yaml(node)); }), node),
          "what was written as YAML reads back differently");
}

void yaml(std::string_view bytes) {
  const Node node = parse_yaml(bytes);
  use(node);
  use(read_model(node));
}

void huggingface(std::string_view bytes) {
  const Node node = parse_json(bytes);
  ModelSpec model = read_huggingface(node);
  const ModelSpec kept = again([&] { return read_huggingface(keys_that_count(node)); });
  promise(resident_weights(kept) == resident_weights(model), "a key that counts was dropped");
  use(std::move(model));
}

void gguf(std::string_view bytes) {
  std::istringstream in{std::string(bytes)};
  GgufFile file = parse_gguf(in);
  Bytes sum;
  for (const Tensor& t : file.tensors) sum += t.bytes;
  promise(sum.n <= static_cast<std::int64_t>(bytes.size()), "tensors larger than their file");
  ModelSpec model = model_of(std::move(file), "fuzz");
  promise(resident_weights(model, true) == sum, "the model has other bytes than its file");
  use(std::move(model));
}

ModelSpec small_model() {
  ModelSpec model;
  model.layers.resize(3);
  model.layers[1].mixer.kind = Attention{4, 2, 16, 16};
  return model;
}

// An index is told from a file by its first character.
void safetensors(std::string_view bytes) {
  if (bytes.starts_with('{')) {
    const auto index = safetensors::parse_index(bytes);
    for (const auto& [name, file] : index.tensors)
      promise(file < index.files.size(), "a tensor in no file");
    return;
  }
  std::istringstream in{std::string(bytes)};
  auto stored = safetensors::parse_header(in);
  Bytes sum;
  for (const auto& t : stored) sum += t.bytes;
  promise(sum.n <= static_cast<std::int64_t>(bytes.size()), "tensors larger than their file");
  TensorTable table;
  table.tensors = safetensors::unpack(std::move(stored), {4, 128});
  promise(table.bytes() == sum, "bytes were lost");
  (void)group_tensors(table);
  ModelSpec model = small_model();
  use_tensors(model, table);
  if (!model.head_once_more)
    promise(resident_weights(model, true) == sum, "the model has other bytes than its file");
  model.native = &format_named("bf16");
  const ModelSpec read = model;
  again([&] { return use_weights_section(model, parse_yaml(to_yaml(weights_section(read)))); });
  promise(resident_weights(model, true) == resident_weights(read, true),
          "what was written of the weights reads back differently");
  use(std::move(model));
}

void device(std::string_view bytes) {
  const DeviceSpec spec = read_device(parse_yaml(bytes));
  promise(spec.memory.value.n > 0, "a device without memory");
}

void engine(std::string_view bytes) {
  for (const EngineFlag& flag : read_engine(parse_yaml(bytes)).flags)
    for (const EngineFlag::Default& d : flag.defaults) check_value(flag, d.value);
}

void profile(std::string_view bytes) {
  const auto rewritten = [](const Profile& profile) {
    return again([&] { return read_profile(parse_yaml(profile_text(profile))); });
  };
  // Bytes that are no UTF-8 are replaced when they are first written.
  const Profile written = rewritten(read_profile(parse_yaml(bytes)));
  promise(rewritten(written) == written, "what was written of a profile reads back differently");
}

void times(std::string_view bytes) {
  const MeasuredTable table = read_measured(bytes, "");
  for (const Measured& row : table.rows) promise(row.time.v > 0, "a time that is none");
}

void log(std::string_view bytes) {
  std::istringstream in{std::string(bytes)};
  (void)read_log(in, test::shipped_engines());
}

void command(std::string_view bytes) {
  EngineCommand read = parse_command(bytes, test::shipped_engines());
  (void)take_common_options(read.options, {});
  check_settings(read.options);
}

constexpr Target kTargets[] = {
    {"json", json},       {"yaml", yaml},     {"huggingface", huggingface},
    {"gguf", gguf},       {"device", device}, {"safetensors", safetensors},
    {"profile", profile}, {"times", times},   {"log", log},
    {"command", command}, {"engine", engine}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

}  // namespace kvplan::fuzz
