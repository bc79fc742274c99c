// SPDX-License-Identifier: Apache-2.0
// Models, devices, engines and profiles by name: the embedded catalog, overlaid by the user's
// folders.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "catalog/node.h"
#include "cost/device.h"
#include "model/spec.h"
#include "nearest.h"

namespace kvplan {

// Case, spaces, dashes, dots kept apart: "RTX 4090" and "rtx4090" are one name.
std::string normalized(std::string_view name);

struct CatalogEntry {
  std::string name;
  std::vector<std::string> aliases;
  std::string file;  // path in the catalog, for messages
  std::string_view text;
};

class Catalog {
 public:
  // The embedded catalog overlaid by `directory` (--catalog, may be empty) and by the user's
  // folder.
  explicit Catalog(const std::string& directory = {});

  // A catalog name or alias, a Hugging Face id of an entry, or a path (config.json, its folder,
  // .yaml, .gguf, .safetensors…).
  ModelSpec model(std::string_view name_or_path) const;
  // A catalog name or alias, or a .yaml path. A bare family resolves to its fastest part; `note`
  // then says so.
  DeviceSpec device(std::string_view name_or_path, std::string* note = nullptr) const;
  // Text of an entry of "models", "devices", "engines", "profiles"; nullptr when absent.
  const CatalogEntry* find(std::string_view kind, std::string_view name) const;
  const std::vector<CatalogEntry>& entries(std::string_view kind) const;

 private:
  std::vector<std::pair<std::string, std::vector<CatalogEntry>>> kinds_;
  std::vector<std::string> owned_texts_;
};

}  // namespace kvplan
