// SPDX-License-Identifier: Apache-2.0
// Models, devices, engines and profiles by name: the embedded catalog, overlaid by the user's
// folders. Only what is named gets parsed.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/device_name.h"
#include "catalog/names.h"
#include "catalog/node.h"
#include "cost/device.h"
#include "engine/flags.h"
#include "model/spec.h"

namespace kvplan {

struct CatalogEntry {
  std::string name;
  std::vector<std::string> aliases;
  std::string file;  // "devices/rtx-4090.yaml", or a path; for messages
  std::string_view text;
};

// Reads an entry's text, YAML or what the program holds as JSON; an error names its file.
template <class Read>
auto read_entry(const CatalogEntry& entry, Read read) {
  try {
    return read(entry.text.starts_with('{') ? parse_json(entry.text) : parse_yaml(entry.text));
  } catch (Error& e) {
    throw e.in(entry.file);
  }
}

// The user's own catalog: $XDG_DATA_HOME/kv-plan, or ~/.local/share/kv-plan; empty where there is
// no home.
std::string user_catalog_folder();

class Catalog {
 public:
  // The embedded catalog, overlaid by the user's folder and by `directory` (--catalog, may be
  // empty), each with folders models, devices, engines and profiles. Throws Error where `directory`
  // is none.
  explicit Catalog(const std::string& directory = {});
  Catalog(const Catalog&) = delete;  // entries point into it
  Catalog& operator=(const Catalog&) = delete;

  // A catalog name or alias, a Hugging Face id of an entry, a path (config.json, its folder, .yaml,
  // .gguf, .safetensors…), or a name as people write it (model_name.h): a warning then says how it
  // was read. A catalog name wins over a file of that name: write "./name".
  ModelSpec model(std::string_view name_or_path) const;
  // A catalog name or alias, a part as people write it (device_name.h), or a .yaml path. A bare
  // family resolves to its fastest part; `note` then says so. A count before the name is for
  // `counted` to take off.
  DeviceSpec device(std::string_view name_or_path, std::string* note = nullptr) const;
  // "2xp5.48xlarge" is 16 of the H100 that each has; any other name is counted as names.h says.
  Counted counted(std::string_view typed) const;
  // Whether `device` knows the name, other than as a path.
  bool has_device(std::string_view name) const;
  // The flags of an engine by name or alias; files of overlays add to what is shipped.
  std::shared_ptr<const EngineFlags> engine(std::string_view name) const;
  FindEngine engines() const {
    return [this](std::string_view name) { return engine(name); };
  }
  // An entry of "models", "devices", "engines", "profiles", "runs" by name or alias; empty when
  // absent.
  std::optional<CatalogEntry> find(std::string_view kind, std::string_view name) const;
  // All entries of a kind, by name.
  std::vector<CatalogEntry> entries(std::string_view kind) const;

 private:
  struct Overlay {
    std::string kind, path, text;
    std::vector<IndexedName> names;
  };
  struct Match {
    CatalogEntry entry;
    IndexedName::Use use;
    std::string marketed;
    std::int64_t count = 1;  // of an instance
  };
  void add_overlay(const std::string& directory);
  std::optional<ModelSpec> model_typed(std::string_view name) const;
  std::optional<Match> match(std::string_view kind, std::string_view name) const;
  // By every spelling of the typed name that leaves nothing out. `near` is what a spelling that
  // does leave something out would have found.
  std::optional<Match> match_typed(const TypedDevice&, std::string* near) const;
  std::optional<Match> match_device(std::string_view name, bool& loose, std::string* near) const;
  Error unknown(std::string_view kind, std::string_view name, std::string_view near = {}) const;

  std::vector<Overlay> overlays_;  // later ones win
};

}  // namespace kvplan
