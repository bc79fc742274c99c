// SPDX-License-Identifier: Apache-2.0
#include "catalog/files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "catalog/builder.h"
#include "error.h"

namespace kvplan {

std::string read_text_file(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) throw Error("there is no such file").in(path);
  if (!std::filesystem::is_regular_file(status)) throw Error("this is not a file").in(path);
  if (std::filesystem::file_size(path, failure) > kMostTextBytes)
    throw Error("the file is larger than 64 MiB")
        .in(path)
        .advise("A configuration is smaller: is this the right file?");
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw Error("the file cannot be read").in(path);
  return text;
}

Node read_tree(const std::string& path) {
  const std::string text = read_text_file(path);
  try {
    return path.ends_with(".json") ? parse_json(text) : parse_yaml(text);
  } catch (Error& e) {
    throw e.in(path);
  }
}

}  // namespace kvplan
