// SPDX-License-Identifier: Apache-2.0
// What of the catalog a typed name means, and what to say where it means nothing.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/device_file.h"
#include "catalog/device_kit.h"
#include "catalog/device_spelling.h"
#include "catalog/files.h"
#include "catalog/model_file.h"
#include "catalog/model_name.h"
#include "catalog/model_path.h"
#include "model/recipe.h"
#include "nearest.h"

namespace kvplan {
namespace {

// Whether the checkpoint has quantised weights of as many bits as this format.
bool stores(const ModelSpec& model, std::string_view recipe) {
  const Format* format = find_format(recipe);
  const auto has = [&](const Weight& w) { return w.is_matrix && w.format->bits == format->bits; };
  return format && format->bits < 16 &&
         std::any_of(model.layers.begin(), model.layers.end(), [&](const Layer& layer) {
           return std::any_of(layer.weights.begin(), layer.weights.end(), has);
         });
}

// "8b", "1.5b" in a name: it tells the shape, not the family alone.
bool says_a_size(std::string_view key) {
  for (std::size_t at = key.find('b', 1); at != key.npos; at = key.find('b', at + 1))
    if (key[at - 1] >= '0' && key[at - 1] <= '9') return true;
  return false;
}

// "Hermes-3-Llama-3.1-8B" holds "llama-3.1-8b": the longest name with a size that a typed one
// holds.
std::string contained_in(std::string_view typed, const std::vector<std::string>& names) {
  std::string longest, longest_key;
  for (const std::string& name : names)
    if (const std::string key = normalized(name);
        says_a_size(key) && key.size() > longest_key.size() && typed.find(key) != typed.npos) {
      longest = name;
      longest_key = key;
    }
  return longest;
}

}  // namespace

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
  const std::string tuned = is_model ? contained_in(normalized(name), names) : std::string();
  const std::string what(kind.substr(0, kind.size() - 1));  // "model", "device"
  const std::string near =
      !closest.empty() ? "Did you mean " + std::string(closest) + "?"
      : !tuned.empty() ? "If it is a fine-tune of " + tuned + ", its sizes are the same: name that."
                       : did_you_mean(normalized(name), names);
  Error error("there is no " + what + " '" + std::string(name.substr(0, 120)) + "' in the catalog");
  error.advise(
      (near.empty() ? near : near + " ") + "`kv-plan " + std::string(kind) + "` lists all." +
      (kind == "devices" ? " A processor may be said by its memory: \"dual-channel DDR5-5600 "
                           "32GB\"."
                         : ""));
  return error;
}

std::optional<ModelSpec> Catalog::model_typed(std::string_view name) const {
  const TypedModel typed = typed_model(name);
  const auto named = [&](const std::string& key) -> std::optional<ModelSpec> {
    const auto entry = key.empty() ? std::nullopt : find("models", key);
    if (!entry) return std::nullopt;
    return read_entry(*entry, [](const Node& file) { return read_model(file); });
  };
  std::string how;
  std::optional<ModelSpec> model = named(typed.whole);
  for (std::size_t i = 0; i < typed.names.size() && !model; ++i) {
    model = named(typed.names[i]);
    if (!model) continue;
    const bool usual = typed.weights.empty() && typed.is_gguf && !stores(*model, "mxfp4");
    const std::string recipe(usual ? kUsualFileType : typed.weights);
    if (recipe.empty() || stores(*model, recipe)) continue;
    model = apply_recipe(*std::move(model), recipe);
    how = " with weights in " + recipe;
  }
  if (model)
    model->warnings.push_back(
        {"taken-by-name", "'" + std::string(name) + "' is taken as " + model->name + how});
  return model;
}

ModelSpec Catalog::model(std::string_view name_or_path) const {
  if (const auto entry = find("models", name_or_path))
    return read_entry(*entry, [](const Node& file) { return read_model(file); });
  if (looks_like_path(name_or_path)) return read_model_at(std::string(name_or_path));
  if (auto model = model_typed(name_or_path)) return *std::move(model);
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

Counted Catalog::counted(std::string_view typed) const {
  Counted named = kvplan::counted(typed);
  std::string_view name = named.name;
  for (const std::string_view prefix : {"Standard_", "ml."})  // of Azure and of SageMaker
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (const auto found = match("devices", name); found && found->use == IndexedName::instance)
    return {checked_mul(named.count, found->count), found->entry.name};
  return named;
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
  if (!loose && found->use != IndexedName::family) return device;
  const TypedDevice typed = typed_device(name_or_path);
  if (is_kit_alone(device, typed)) {
    name_after_kit(device, typed);
    if (note && !typed.kit->channels)
      *note = "'" + std::string(name_or_path) + "' is taken as " + device.title +
              ": say how many channels, as in \"dual-channel DDR5-5600\"";
    return device;
  }
  if (note)
    *note = "'" + std::string(name_or_path) + "' is taken as " + device.title + " (" + device.name +
            "), the fastest that it can mean";
  return device;
}

}  // namespace kvplan
