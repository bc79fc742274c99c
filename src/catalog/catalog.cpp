// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "catalog/embedded.h"
#include "catalog/engine_file.h"
#include "catalog/files.h"
#include "catalog/profile_file.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

bool is_yaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
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

CatalogEntry entry_of(const EmbeddedFile& file) {
  return {std::string(file.name), {}, std::string(file.path), file.text};
}

// Every answer looks for names; only a profile is too long to be read for that.
std::string_view part_with_names(std::string_view kind, std::string_view text) {
  const std::string_view head = kind == "profiles" ? head_in(text) : text;
  return head.find("\nname:") == head.npos ? text : head;
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
  for (const char* kind : {"models", "devices", "engines", "profiles", "runs"}) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(directory) / kind, failure))
      if (is_yaml(entry.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      Overlay overlay{kind, file.string(), read_text_file(file.string()), {}};
      try {
        overlay.names = names_in(parse_yaml(part_with_names(kind, overlay.text)));
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
        return Match{{overlay->names.front().written, {}, overlay->path, overlay->text},
                     n.use,
                     n.marketed,
                     n.count};
  }
  const EmbeddedName* found = find_embedded(kind, key);
  if (!found) return std::nullopt;
  return Match{entry_of(embedded_files()[static_cast<std::size_t>(found->file)]), found->use,
               std::string(found->marketed), found->count};
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
