// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "catalog/device_file.h"
#include "catalog/device_kit.h"
#include "catalog/embedded.h"
#include "catalog/engine_file.h"
#include "catalog/files.h"
#include "catalog/model_file.h"
#include "nearest.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

bool is_yaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

// A path rather than a name that nobody knows: it is there, or it looks like one.
bool looks_like_path(std::string_view text) {
  std::error_code failure;
  if (fs::exists(text, failure)) return true;
  for (const std::string_view end : {".json", ".yaml", ".yml", ".gguf", ".safetensors", "/"})
    if (text.ends_with(end)) return true;
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with('~');
}

// All embedded names with this key; at most one.
const EmbeddedName* find_embedded(std::string_view kind, std::string_view key) {
  const auto names = embedded_names();
  const auto before = [&](const EmbeddedName& n, const auto& wanted) {
    return std::pair(n.kind, n.key) < wanted;
  };
  const auto found = std::lower_bound(names.begin(), names.end(), std::pair(kind, key), before);
  return found != names.end() && found->kind == kind && found->key == key ? &*found : nullptr;
}

// Reads an entry's text; an error names its file.
template <class Read>
auto read_entry(const CatalogEntry& entry, Read read) {
  try {
    return read(parse_yaml(entry.text));
  } catch (Error& e) {
    throw e.in(entry.file);
  }
}

CatalogEntry entry_of(const EmbeddedFile& file) {
  return {std::string(file.name), {}, std::string(file.path), file.text};
}

}  // namespace

// By the XDG base directory specification.
std::string user_catalog_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
    return (fs::path(data) / "kv-plan").string();
  if (const char* home = std::getenv("HOME"); home && *home)
    return (fs::path(home) / ".local/share/kv-plan").string();
  return {};
}

Catalog::Catalog(const std::string& directory) {
  if (const std::string user = user_catalog_folder(); !user.empty() && fs::is_directory(user))
    add_overlay(user);
  if (directory.empty()) return;
  if (!fs::is_directory(directory))
    throw Error("there is no such folder").in(directory).of("--catalog");
  add_overlay(directory);
}

void Catalog::add_overlay(const std::string& directory) {
  for (const char* kind : {"models", "devices", "engines", "profiles"}) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(directory) / kind, failure))
      if (is_yaml(entry.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      Overlay overlay{kind, file.string(), read_text_file(file.string()), {}};
      try {
        overlay.names = names_in(parse_yaml(overlay.text));
      } catch (Error& e) {
        throw e.in(overlay.path);
      }
      overlays_.push_back(std::move(overlay));
    }
  }
}

std::optional<Catalog::Match> Catalog::match(std::string_view kind, std::string_view name) const {
  const std::string key = normalized(name);
  for (auto overlay = overlays_.rbegin(); overlay != overlays_.rend(); ++overlay) {
    if (overlay->kind != kind) continue;
    for (const IndexedName& n : overlay->names)
      if (n.key == key)
        return Match{
            {overlay->names.front().written, {}, overlay->path, overlay->text}, n.use, n.marketed};
  }
  const EmbeddedName* found = find_embedded(kind, key);
  if (!found) return std::nullopt;
  return Match{entry_of(embedded_files()[static_cast<std::size_t>(found->file)]), found->use,
               std::string(found->marketed)};
}

std::optional<CatalogEntry> Catalog::find(std::string_view kind, std::string_view name) const {
  auto found = match(kind, name);
  if (!found) return std::nullopt;
  return std::move(found->entry);
}

std::vector<CatalogEntry> Catalog::entries(std::string_view kind) const {
  std::vector<CatalogEntry> all;
  std::vector<std::size_t> place(embedded_files().size());  // of an embedded file in `all`
  for (std::size_t i = 0; i < place.size(); ++i)
    if (embedded_files()[i].kind == kind) {
      place[i] = all.size();
      all.push_back(entry_of(embedded_files()[i]));
    }
  for (const EmbeddedName& n : embedded_names())
    if (n.kind == kind && n.use == IndexedName::alias && !n.implied)
      all[place[static_cast<std::size_t>(n.file)]].aliases.emplace_back(n.written);
  for (const Overlay& overlay : overlays_) {
    if (overlay.kind != kind) continue;
    CatalogEntry entry{overlay.names.front().written, {}, overlay.path, overlay.text};
    for (const IndexedName& n : overlay.names)
      if (n.use == IndexedName::alias && !n.implied) entry.aliases.push_back(n.written);
    std::erase_if(
        all, [&](const CatalogEntry& e) { return normalized(e.name) == normalized(entry.name); });
    all.push_back(std::move(entry));
  }
  std::sort(all.begin(), all.end(),
            [](const CatalogEntry& a, const CatalogEntry& b) { return a.name < b.name; });
  return all;
}

Error Catalog::unknown(std::string_view kind, std::string_view name,
                       std::string_view closest) const {
  const bool is_model = kind == "models";
  if (is_model ? has_device(name) : match("models", name).has_value())
    return Error("'" + std::string(name) + "' is a " + (is_model ? "device" : "model"))
        .advise("The model comes first, then the device.");
  // Names that go on where the typed one stops come before those that are spelt like it.
  std::vector<std::string> names, longer;
  for (const CatalogEntry& entry : entries(kind)) {
    if (!name.empty() && normalized(entry.name).starts_with(normalized(name)))
      longer.push_back(entry.name);
    names.push_back(entry.name);
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  std::stable_sort(longer.begin(), longer.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (!longer.empty()) names = std::move(longer);
  const std::string what(kind.substr(0, kind.size() - 1));  // "model", "device"
  const std::string near = closest.empty() ? did_you_mean(normalized(name), names)
                                           : "Did you mean " + std::string(closest) + "?";
  Error error("there is no " + what + " '" + std::string(name.substr(0, 120)) + "' in the catalog");
  error.advise((near.empty() ? near : near + " ") + "`kv-plan " + std::string(kind) +
               "` lists all.");
  return error;
}

ModelSpec Catalog::model(std::string_view name_or_path) const {
  if (const auto entry = find("models", name_or_path))
    return read_entry(*entry, [](const Node& file) { return read_model(file); });
  if (looks_like_path(name_or_path)) return read_model_at(std::string(name_or_path));
  if (const std::size_t slash = name_or_path.find('/'); slash != name_or_path.npos)
    if (const auto entry = find("models", name_or_path.substr(slash + 1))) {
      ModelSpec model = read_entry(*entry, [](const Node& file) { return read_model(file); });
      model.warnings.push_back({"taken-by-name", "'" + std::string(name_or_path) +
                                                     "' is not in the catalog: it is taken as " +
                                                     model.name});
      return model;
    }
  throw unknown("models", name_or_path);
}

std::optional<Catalog::Match> Catalog::match_typed(const TypedDevice& typed,
                                                   std::string* near) const {
  for (const Spelling& spelling : spellings(typed)) {
    auto found = match("devices", spelling.key);
    if (!found) continue;
    if (leaves_nothing_out(typed, spelling, read_entry(found->entry, [](Node f) { return f; })))
      return found;
    if (near && near->empty()) *near = found->entry.name;
  }
  return std::nullopt;
}

// `loose`: a remark in parentheses had to be left out that the part's file does not know.
std::optional<Catalog::Match> Catalog::match_device(std::string_view name, bool& loose,
                                                    std::string* near) const {
  if (auto found = match("devices", name)) return found;
  const TypedDevice typed = typed_device(name);
  if (auto found = match_typed(typed, near)) return found;
  if (name.find('(') == name.npos) return std::nullopt;
  const std::string rest = without_remark(name);
  const TypedDevice shorter = typed_device(rest);
  if (shorter.cores != typed.cores) return std::nullopt;
  loose = true;
  if (auto found = match("devices", rest)) return found;
  return match_typed(shorter, near);
}

bool Catalog::has_device(std::string_view name) const {
  bool loose = false;
  return match_device(name, loose, nullptr).has_value();
}

DeviceSpec Catalog::device(std::string_view name_or_path, std::string* note) const {
  bool loose = false;
  std::string near;
  const auto found = match_device(name_or_path, loose, &near);
  if (!found && looks_like_path(name_or_path)) {
    const std::string path(name_or_path);
    const Node file = read_tree(path);
    try {
      return read_device(file);
    } catch (Error& e) {
      throw e.in(path);
    }
  }
  if (!found) throw unknown("devices", name_or_path, near);
  DeviceSpec device = read_entry(found->entry, [&](const Node& file) {
    DeviceSpec read = read_device(file, found->marketed);
    if (read.kind == "cpu") fit_memory(read, typed_device(name_or_path), file);
    return read;
  });
  if (note && (loose || found->use == IndexedName::family))
    *note = "'" + std::string(name_or_path) + "' is taken as " + device.title + " (" + device.name +
            "), the fastest that it can mean";
  return device;
}

std::shared_ptr<const EngineFlags> Catalog::engine(std::string_view name) const {
  const auto entry = find("engines", name);
  if (!entry) throw unknown("engines", name).of("--engine");
  const std::string key = normalized(entry->name);
  EngineFlags flags;
  const auto read_over = [&](const CatalogEntry& layer) {
    flags = read_entry(layer, [&](const Node& file) { return read_engine(file, flags); });
  };
  if (const EmbeddedName* shipped = find_embedded("engines", key))
    read_over(entry_of(embedded_files()[static_cast<std::size_t>(shipped->file)]));
  for (const Overlay& o : overlays_)
    if (o.kind == "engines" && o.names.front().key == key)
      read_over({o.names.front().written, {}, o.path, o.text});
  return std::make_shared<const EngineFlags>(std::move(flags));
}

}  // namespace kvplan
