// SPDX-License-Identifier: Apache-2.0
#include "catalog/files.h"

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "catalog/builder.h"
#include "error.h"

namespace kvplan {
namespace {

struct Impostor {
  std::string_view start;
  const char *what, *advice;
};
constexpr const char* kOlder = "this model is in a format older than GGUF";
constexpr const char* kConvert = "llama.cpp reads it no more since 2023: fetch it as GGUF.";
constexpr const char* kPage = "this is a web page, not the file";
constexpr const char* kDownload = "Download the file itself; a sign-in may be needed.";
constexpr Impostor kImpostors[] = {
    {"version https://git-lfs", "this is a pointer that Git LFS left in place of the file",
     "Run git lfs pull, or download the file itself."},
    {"<!DOCTYPE", kPage, kDownload},
    {"<!doctype", kPage, kDownload},
    {"<html", kPage, kDownload},
    {"tjgg", kOlder, kConvert},  // "ggjt" and so on, as little-endian numbers
    {"lmgg", kOlder, kConvert},
    {"fmgg", kOlder, kConvert}};

}  // namespace

std::ifstream open_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::none)  // unreadable folder, links in a ring
    throw Error("the file cannot be opened: " + failure.message()).in(path);
  if (!fs::exists(status)) throw Error("there is no such file").in(path);
  if (!fs::is_regular_file(status))
    throw Error("this is no ordinary file")
        .in(path)
        .advise("Folders, pipes and devices are not read.");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error("the file cannot be opened: " +
                std::error_code(errno, std::generic_category()).message())
        .in(path);
  return in;
}

std::ifstream open_weights(const std::string& path) {
  std::ifstream in = open_file(path);
  std::string start(64, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  for (const Impostor& impostor : kImpostors)
    if (start.starts_with(impostor.start))
      throw Error(impostor.what).in(path).at_offset(0).advise(impostor.advice);
  in.clear();
  in.seekg(0);
  return in;
}

std::string read_text_file(const std::string& path) {
  std::error_code failure;
  std::ifstream in = open_file(path);
  if (std::filesystem::file_size(path, failure) > kMostTextBytes)
    throw Error("the file is larger than 64 MiB")
        .in(path)
        .advise("A configuration is smaller: is this the right file?");
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
