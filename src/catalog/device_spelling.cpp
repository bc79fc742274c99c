// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_spelling.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "catalog/names.h"
#include "catalog/typed_words.h"

namespace kvplan {
namespace {

// Words that name no part: of the card, of its maker, of the computer around it.
constexpr std::string_view kRemarks[] = {
    "accelerator", "aorus",     "asrock",    "asus",      "card",      "cloud",      "colorful",
    "computer",    "cpu",       "desktop",   "dev",       "developer", "device",     "discrete",
    "dual",        "eagle",     "early",     "ecc",       "edition",   "evga",       "fe",
    "founders",    "framework", "ftw3",      "gainward",  "galax",     "gaming",     "gb",
    "generation",  "gigabyte",  "gpus",      "hellhound", "imac",      "inno3d",     "ipadair",
    "ipadpro",     "kit",       "late",      "limit",     "macbook",   "macbookair", "macbookpro",
    "macmini",     "macpro",    "macstudio", "memory",    "mid",       "msi",        "nitro",
    "nitro+",      "oc",        "only",      "palit",     "pny",       "power",      "powercolor",
    "processor",   "pulse",     "radv",      "ram",       "rog",       "sapphire",   "series",
    "single",      "slim",      "strix",     "suprim",    "system",    "trinity",    "trio",
    "tuf",         "uma",       "unified",   "ventus",    "vram",      "w",          "windforce",
    "with",        "xfx",       "zotac"};

// Power limits, clocks, screens, memory modules and years are said beside a part.
bool is_remark(std::string_view word) {
  for (const std::string_view unit : {"w", "ghz", "mhz", "inch", "in", "x"})
    if (!number_before(word, unit).empty()) return true;
  if (is_number(word) && number_of(word) >= 2010 && number_of(word) <= 2029) return true;
  return std::find(std::begin(kRemarks), std::end(kRemarks), word) != std::end(kRemarks);
}

// Every word that a file uses for its device.
std::set<std::string> words_of(const Node& file) {
  std::set<std::string> all;
  const auto add = [&](const Node* node) {
    if (!node || node->kind != Node::scalar) return;
    const TypedDevice said = typed_device(node->text);
    all.insert(said.words.begin(), said.words.end());
    all.insert(said.kit_text.begin(), said.kit_text.end());
    if (!said.size.empty()) all.insert(said.size);
    if (!said.cores.empty()) all.insert(said.cores);
  };
  for (const char* key : {"name", "title", "architecture", "compute_capability", "year"})
    add(file.find(key));
  for (const char* key : {"aliases", "families"})
    if (const Node* list = file.find(key))
      for (const Node& item : list->items) add(&item);
  if (const Node* memory = file.find("memory")) {
    add(memory->find("type"));
    if (const Node* marketed = memory->find("marketed")) {
      const Node* value = marketed->kind == Node::map ? marketed->find("value") : marketed;
      if (value) all.insert(size_word(value->text));
    }
  }
  if (const Node* chip = file.find("chip"))
    if (const Node* cores = chip->find("processors"))
      if (cores->kind == Node::scalar) all.insert(cores->text + "core");
  const Node* links = file.find("links");
  const Node* host = links ? links->find("host") : nullptr;
  const Node* kind = host ? host->find("kind") : nullptr;
  const bool is_module = std::any_of(all.begin(), all.end(), [](const std::string& word) {
    return word.starts_with("sxm") || word == "oam";
  });
  if (kind && kind->text.starts_with("PCIe") && !is_module) all.insert("pcie");
  return all;
}

}  // namespace

std::vector<Spelling> spellings(const TypedDevice& device) {
  constexpr std::size_t kMostWords = 16;
  const std::size_t n = std::min(device.words.size(), kMostWords);
  std::vector<Spelling> all;
  const auto add = [&](const std::string& key, std::size_t from, std::size_t to) {
    const bool bare = key[0] >= '0' && key[0] <= '9';  // "4090": the line is left to the reader
    for (const bool cores : {true, false})
      for (const bool size : {true, false})
        for (const std::string_view line : {"", "rtx", "rx", "gtx"})
          if ((line.empty() || bare) && (!cores || !device.cores.empty()) &&
              (!size || !device.size.empty()))
            all.push_back(
                {std::string(line) + key + (cores ? device.cores : "") + (size ? device.size : ""),
                 from, to, cores, size});
  };
  for (std::size_t length = n; length > 0; --length)
    for (std::size_t from = 0; from + length <= n; ++from) {
      std::string key;
      for (std::size_t i = from; i < from + length; ++i) key += device.words[i];
      add(key, from, from + length);
    }
  return all;
}

bool leaves_nothing_out(const TypedDevice& device, const Spelling& spelling, const Node& file) {
  const std::set<std::string> said = words_of(file);
  const bool is_cpu = file.find("kind") && file.find("kind")->text == "cpu";
  const auto is_said = [&](const std::string& word) { return word.empty() || said.contains(word); };
  for (std::size_t i = 0; i < device.words.size(); ++i)
    if ((i < spelling.from || i >= spelling.to) && !is_said(device.words[i]) &&
        !is_remark(device.words[i]))
      return false;
  // A processor's modules are its owner's; any other device has those that it is sold with.
  const auto& kit = device.kit_text;
  return (spelling.has_cores || is_said(device.cores)) &&
         (spelling.has_size || is_cpu || is_said(device.size)) &&
         (is_cpu || std::all_of(kit.begin(), kit.end(), is_said));
}

}  // namespace kvplan
