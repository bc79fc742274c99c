// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/shards.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_set>

#include "catalog/safetensors/index.h"

namespace kvplan::safetensors {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexSuffix = ".safetensors.index.json";
constexpr std::uintmax_t kMostIndexBytes = 100'000'000;

std::vector<StoredTensor> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("the file cannot be opened").in(path);
  try {
    return parse_header(in);
  } catch (Error& e) {
    throw e.in(path);
  }
}

Index read_index(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code failure;
  const auto size = fs::file_size(path, failure);
  if (!in || failure) throw Error("the file cannot be opened").in(path);
  if (size > kMostIndexBytes) throw Error("the index is larger than 100 MB").in(path);
  std::string text(static_cast<std::size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  try {
    return parse_index(text);
  } catch (Error& e) {
    throw e.in(path);
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? folder : folder + "/";
}

// The index or the only safetensors file of a folder.
std::string entry_of_folder(const std::string& folder) {
  std::vector<std::string> indices, files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kIndexSuffix)) indices.push_back(entry.path().string());
    if (name.ends_with(".safetensors")) files.push_back(entry.path().string());
  }
  for (auto* found : {&indices, &files}) {
    for (const std::string& path : *found)
      if (fs::path(path).filename().string().starts_with("model.safetensors")) return path;
    if (found->size() == 1) return found->front();
  }
  throw Error(files.empty() ? "the folder holds no safetensors file"
                            : "the folder holds several safetensors files and no index")
      .in(folder);
}

// One of several shards stands for all of them where their index is beside it.
std::string index_beside(const std::string& path) {
  constexpr std::string_view kForm = "-00000-of-00000.safetensors";
  if (path.size() <= kForm.size()) return path;
  const std::string stem = path.substr(0, path.size() - kForm.size());
  if (path.substr(stem.size(), 1) != "-" || path.find("-of-", stem.size()) == path.npos)
    return path;
  const std::string index = stem + std::string(kIndexSuffix);
  return fs::exists(index) ? index : path;
}

void warn(Checkpoint& c, std::string code, std::string message) {
  c.warnings.push_back({std::move(code), std::move(message)});
}

void report_missing_files(Checkpoint& c, const std::vector<std::string>& missing, std::size_t of) {
  if (missing.empty()) return;
  c.complete = false;
  warn(c, "missing-shards",
       std::to_string(missing.size()) + " of " + std::to_string(of) +
           " files that the index names are missing, the first is '" + missing.front() +
           "': weights are taken from the configuration");
}

// The index and the files must agree on which tensors there are.
void compare_names(Checkpoint& c, const Index& index) {
  std::unordered_set<std::string_view> stored;
  std::size_t extra = 0;
  const StoredTensor* first_extra = nullptr;
  for (const StoredTensor& t : c.tensors) {
    if (!stored.insert(t.name).second)
      throw Error("two files hold tensor '" + t.name + "'").of(t.name);
    if (index.tensors.contains(t.name)) continue;
    if (extra++ == 0) first_extra = &t;
  }
  if (extra > 0)
    warn(c, "extra-tensors",
         std::to_string(extra) + " tensors are in the files and not in the index, the first is '" +
             first_extra->name + "'");
  if (!c.complete) return;
  std::size_t absent = 0;
  const std::string* first_absent = nullptr;
  for (const auto& [name, file] : index.tensors)
    if (!stored.contains(name)) {
      if (!first_absent || name < *first_absent) first_absent = &name;
      ++absent;
    }
  if (absent > 0)
    warn(c, "absent-tensors",
         std::to_string(absent) + " tensors are in the index and in no file, the first is '" +
             *first_absent + "'");
}

void compare_size(Checkpoint& c, const Index& index) {
  if (!index.total_bytes || !c.complete) return;
  std::uint64_t bytes = 0;
  for (const StoredTensor& t : c.tensors) bytes += static_cast<std::uint64_t>(t.bytes.n);
  if (bytes != *index.total_bytes)
    warn(c, "index-size-differs",
         "the index says " + std::to_string(*index.total_bytes) + " bytes, the files hold " +
             std::to_string(bytes));
}

Checkpoint read_shards(const std::string& path) {
  Checkpoint c;
  c.folder = folder_of(path);
  const Index index = read_index(path);
  std::vector<std::string> missing;
  for (const std::string& file : index.files) {
    if (!fs::exists(c.folder + file)) {
      missing.push_back(file);
      continue;
    }
    auto tensors = read_file(c.folder + file);
    c.tensors.insert(c.tensors.end(), std::make_move_iterator(tensors.begin()),
                     std::make_move_iterator(tensors.end()));
  }
  report_missing_files(c, missing, index.files.size());
  compare_names(c, index);
  compare_size(c, index);
  return c;
}

}  // namespace

Checkpoint read_checkpoint(const std::string& given) {
  const std::string path = index_beside(fs::is_directory(given) ? entry_of_folder(given) : given);
  if (path.ends_with(".json")) return read_shards(path);
  Checkpoint c;
  c.folder = folder_of(path);
  c.tensors = read_file(path);
  return c;
}

}  // namespace kvplan::safetensors
