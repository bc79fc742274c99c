// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/shards.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <unordered_set>

#include "catalog/files.h"
#include "catalog/part_name.h"
#include "catalog/safetensors/entry.h"
#include "catalog/safetensors/index.h"

namespace kvplan::safetensors {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostIndexBytes = 100'000'000;
constexpr std::size_t kMostTensors = 1'000'000;  // of all files

std::vector<StoredTensor> read_file(const std::string& path) {
  std::ifstream in = open_weights(path);
  try {
    return parse_header(in);
  } catch (Error& e) {
    throw e.in(path);
  }
}

Index read_index(const std::string& path) {
  std::ifstream in = open_file(path);
  std::error_code failure;
  const auto size = fs::file_size(path, failure);
  if (failure) throw Error("the file cannot be read").in(path);
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

void warn(Checkpoint& c, std::string code, std::string message) {
  c.warnings.push_back({std::move(code), std::move(message)});
}

void report_missing_files(Checkpoint& c, const std::vector<std::string>& missing, std::size_t of,
                          std::string_view who) {
  if (missing.empty()) return;
  c.complete = false;
  warn(c, "missing-shards",
       std::to_string(missing.size()) + " of " + std::to_string(of) + " files that " +
           std::string(who) + " are missing, the first is '" + missing.front() +
           "': weights are taken from the configuration");
}

std::unordered_set<std::string_view> names_of(const Checkpoint& c) {
  std::unordered_set<std::string_view> stored;
  for (const StoredTensor& t : c.tensors)
    if (!stored.insert(t.name).second)
      throw Error("two files hold tensor '" + t.name + "'").of(t.name);
  return stored;
}

// The index and the files must agree on which tensors there are.
void compare_names(Checkpoint& c, const Index& index) {
  const auto stored = names_of(c);
  std::size_t extra = 0;
  const StoredTensor* first_extra = nullptr;
  for (const StoredTensor& t : c.tensors) {
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

void append(std::vector<StoredTensor>& all, std::vector<StoredTensor> more) {
  if (all.size() + more.size() > kMostTensors)
    throw Error("the files hold more than 1,000,000 tensors");
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Reads those of `files` that are there.
void read_files(Checkpoint& c, const std::vector<std::string>& files, std::string_view who) {
  std::vector<std::string> missing;
  std::error_code unreadable;  // links in a ring: as good as missing
  for (const std::string& file : files)
    if (fs::exists(c.folder + file, unreadable))
      append(c.tensors, read_file(c.folder + file));
    else
      missing.push_back(file);
  report_missing_files(c, missing, files.size(), who);
}

Checkpoint read_indexed(const std::string& path) {
  Checkpoint c;
  c.folder = folder_of(path);
  const Index index = read_index(path);
  read_files(c, index.files, "the index names");
  compare_names(c, index);
  compare_size(c, index);
  return c;
}

Checkpoint read_unindexed(const PartName& shard) {
  Checkpoint c;
  c.folder = folder_of(shard.stem);
  std::vector<std::string> files;
  for (std::int64_t n = 1; n <= shard.count; ++n)
    files.push_back(shard.at(n).substr(c.folder.size()));
  read_files(c, files, "the shards' names speak of");
  (void)names_of(c);  // none stands twice
  return c;
}

}  // namespace

Checkpoint read_checkpoint(const std::string& given) {
  const Entry entry = entry_of(given);
  if (entry.found != Found::one)
    throw Error(entry.found == Found::none
                    ? "the folder holds no safetensors file"
                    : "the folder holds several safetensors files and no index")
        .in(given);
  if (entry.path.ends_with(".json")) return read_indexed(entry.path);
  if (const auto shard = part_name(entry.path, ".safetensors"); shard && shard->count > 1)
    return read_unindexed(*shard);
  Checkpoint c;
  c.folder = folder_of(entry.path);
  c.tensors = read_file(entry.path);
  return c;
}

}  // namespace kvplan::safetensors
