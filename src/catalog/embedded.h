// SPDX-License-Identifier: Apache-2.0
// configs/ inside the program: its files as JSON, and a sorted index of their names. Generated at
// build time by embed.cpp.
#pragma once
#include <span>
#include <string_view>

#include "catalog/names.h"

namespace kvplan {

struct EmbeddedFile {
  std::string_view kind, path, name, text;  // "devices", "devices/rtx-4090.yaml", "rtx-4090"
};
struct EmbeddedName {
  std::string_view kind, key, written;
  IndexedName::Use use;
  std::string_view marketed;
  std::int64_t count;
  bool implied;
  int file;  // index into embedded_files()
};

std::span<const EmbeddedFile> embedded_files();  // in order of kind and path
std::span<const EmbeddedName> embedded_names();  // in order of kind and key

}  // namespace kvplan
