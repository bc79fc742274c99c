// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/split.h"

#include <iterator>
#include <unordered_set>

#include "catalog/files.h"
#include "catalog/gguf.h"
#include "catalog/part_name.h"
#include "error.h"

namespace kvplan {
namespace {

constexpr std::string_view kEnding = ".gguf";
constexpr std::size_t kMostTensors = 1'000'000;  // of all parts

GgufFile read_file(const std::string& path) {
  std::ifstream in = open_weights(path);
  try {
    return parse_gguf(in);
  } catch (Error& e) {
    throw e.in(path);
  }
}

std::int64_t number_of(const GgufFile& file, std::string_view key, std::int64_t otherwise) {
  const Node* node = file.metadata.find(key);
  return node ? node->integer().value_or(otherwise) : otherwise;
}

void check_part(const GgufFile& part, const PartName& name, std::int64_t number) {
  const std::int64_t count = number_of(part, "split.count", name.count);
  const std::int64_t index = number_of(part, "split.no", number - 1);
  if (count != name.count || index != number - 1)
    throw Error("the file says that it is part " + std::to_string(index + 1) + " of " +
                std::to_string(count))
        .of("split.no")
        .in(name.at(number))
        .advise("Give the parts the names that they were published under.");
}

}  // namespace

bool is_first_gguf(const std::string& path) {
  const auto name = part_name(path, kEnding);
  return !name || name->number == 1;
}

GgufFile read_split_gguf(const std::string& path) {
  const auto name = part_name(path, kEnding);
  if (!name) {
    GgufFile file = read_file(path);
    if (const std::int64_t count = number_of(file, "split.count", 1); count > 1)
      throw Error("this is one of " + std::to_string(count) + " parts of a model")
          .of("split.count")
          .in(path)
          .advise("Give it a name that ends in -00001-of-0000N.gguf, beside the others.");
    return file;
  }
  GgufFile whole = read_file(name->at(1));
  check_part(whole, *name, 1);
  const std::int64_t promised = number_of(whole, "split.tensors.count", -1);
  for (std::int64_t n = 2; n <= name->count; ++n) {
    GgufFile part = read_file(name->at(n));
    check_part(part, *name, n);
    if (whole.tensors.size() + part.tensors.size() > kMostTensors)
      throw Error("the parts hold more than 1,000,000 tensors").in(path);
    whole.tensors.insert(whole.tensors.end(), std::make_move_iterator(part.tensors.begin()),
                         std::make_move_iterator(part.tensors.end()));
  }
  std::unordered_set<std::string_view> names;
  for (const Tensor& t : whole.tensors)
    if (!names.insert(t.name).second)
      throw Error("two parts hold tensor '" + t.name + "'").of(t.name).in(path);
  if (promised >= 0 && promised != static_cast<std::int64_t>(whole.tensors.size()))
    throw Error("the parts hold " + std::to_string(whole.tensors.size()) + " tensors, not " +
                std::to_string(promised))
        .of("split.tensors.count")
        .in(path);
  return whole;
}

}  // namespace kvplan
