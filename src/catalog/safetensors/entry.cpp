// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/entry.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "catalog/part_name.h"

namespace kvplan {
namespace safetensors {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".safetensors";
constexpr std::string_view kIndexSuffix = ".safetensors.index.json";

// Adapters lie beside models and are none.
bool is_checkpoint(const std::string& name) {
  return name.ends_with(kEnding) && !name.starts_with("adapter_");
}

Entry entry_of_file(const std::string& path) {
  const auto shard = part_name(path, kEnding);
  const std::string index = shard ? shard->stem + std::string(kIndexSuffix) : "";
  return {Found::one, shard && fs::exists(index) ? index : path};
}

// Of several, those that are called model.safetensors count; of shards, one set.
Entry entry_of_folder(const std::string& folder) {
  std::vector<std::string> indices, files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kIndexSuffix)) indices.push_back(entry.path().string());
    if (is_checkpoint(name)) files.push_back(entry.path().string());
  }
  for (auto* found : {&indices, &files}) {
    std::sort(found->begin(), found->end());
    for (const std::string& path : *found)
      if (fs::path(path).filename().string().starts_with("model.safetensors"))
        return {Found::one, path};
    if (found->size() == 1) return entry_of_file(found->front());
  }
  if (files.empty()) return {indices.empty() ? Found::none : Found::several, {}};
  const auto first = part_name(files.front(), kEnding);
  for (const std::string& path : files) {
    const auto shard = part_name(path, kEnding);
    if (!first || !shard || shard->stem != first->stem || shard->count != first->count)
      return {Found::several, {}};
  }
  return {Found::one, files.front()};
}

}  // namespace

Entry entry_of(const std::string& path) {
  return fs::is_directory(path) ? entry_of_folder(path) : entry_of_file(path);
}

}  // namespace safetensors

Found find_safetensors(const std::string& folder) { return safetensors::entry_of(folder).found; }

}  // namespace kvplan
