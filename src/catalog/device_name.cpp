// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "catalog/names.h"

namespace kvplan {
namespace {

using Words = std::vector<std::string>;

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

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "250" of "250w": the digits before this ending; empty where the word is anything else.
std::string_view number_before(std::string_view word, std::string_view ending) {
  if (!word.ends_with(ending)) return {};
  word.remove_suffix(ending.size());
  return is_number(word) ? word : std::string_view{};
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Power limits, clocks, screens, memory modules and years are said beside a part.
bool is_remark(std::string_view word) {
  for (const std::string_view unit : {"w", "ghz", "mhz", "inch", "in", "x"})
    if (!number_before(word, unit).empty()) return true;
  if (is_number(word) && number_of(word) >= 2010 && number_of(word) <= 2029) return true;
  return std::find(std::begin(kRemarks), std::end(kRemarks), word) != std::end(kRemarks);
}

// Lower case; whatever is no letter, digit, '+' or '.' parts words, typographic dashes too.
Words split(std::string_view typed) {
  Words words(1);
  for (char c : typed) {
    if (c == '"' && is_number(words.back())) words.back() += "inch";
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '.')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string_view word_at(const Words& words, std::size_t i) {
  return i < words.size() ? std::string_view(words[i]) : std::string_view{};
}

// "24" "gb" and "24g" → "24gb"; "macbook" "pro" → "macbookpro".
Words joined(const Words& split) {
  Words words;
  for (std::size_t i = 0; i < split.size(); ++i) {
    const std::string& word = split[i];
    const std::string_view next = word_at(split, i + 1);
    const bool apart = is_number(word) && is_one_of(next, {"gb", "gib", "inch", "ghz", "w"});
    const bool computer = (word == "macbook" && is_one_of(next, {"pro", "air"})) ||
                          (word == "mac" && is_one_of(next, {"studio", "mini", "pro"})) ||
                          (word == "ipad" && is_one_of(next, {"pro", "air"}));
    std::string all = word;
    if (apart || computer) all += split[++i];
    for (const std::string_view unit : {"gib", "g"})
      if (const auto digits = number_before(all, unit); !digits.empty())
        all = std::string(digits) + "gb";
    words.push_back(std::move(all));
  }
  return words;
}

// "40-core GPU", "40 GPU cores", "40 GPU", "40c" → "40core"; cores said to be a CPU's → nothing.
// `used`: how many words that took, 0 where the word at `i` counts no cores.
std::string cores_at(const Words& words, std::size_t i, std::size_t& used) {
  used = 0;
  const auto is_core = [](std::string_view w) {
    return is_one_of(w, {"core", "cores", "c", "cu", "cus"});
  };
  constexpr std::int64_t kMost = 304;  // above it, a part's own number: "4090 GPU"
  std::string_view digits = word_at(words, i), next = word_at(words, i + 1);
  bool of_cpu = false;
  if (is_number(digits)) {
    if (number_of(digits) > kMost) return {};
    used = 1;
    const bool named = is_one_of(next, {"gpu", "cpu"});
    of_cpu = next == "cpu";
    used += named + is_core(word_at(words, i + 1 + named));
    if (used == 1) return used = 0, std::string{};
  } else {
    for (const std::string_view unit : {"core", "cores", "c", "cu"})
      if (const auto d = number_before(word_at(words, i), unit); !d.empty()) digits = d, used = 1;
    if (used == 0) return {};
  }
  if (const auto after = word_at(words, i + used); is_one_of(after, {"gpu", "cpu"})) {
    of_cpu = of_cpu || after == "cpu";
    ++used;
  }
  return of_cpu ? std::string{} : std::string(digits) + "core";
}

std::optional<std::int64_t> channels_of(std::string_view word, std::string_view next) {
  constexpr std::pair<std::string_view, std::int64_t> kNumbers[] = {
      {"single", 1}, {"dual", 2},  {"quad", 4},   {"octa", 8},
      {"six", 6},    {"eight", 8}, {"twelve", 12}};
  if (const auto digits = number_before(word, "ch"); !digits.empty()) return number_of(digits);
  if (!is_one_of(next, {"channel", "channels"})) return std::nullopt;
  if (is_number(word)) return number_of(word);
  for (const auto& [name, value] : kNumbers)
    if (name == word) return value;
  return std::nullopt;
}

// Takes "ddr5" "6000" and "dual" "channel" out of the words.
void take_kit(Words& words, TypedDevice& device) {
  Words rest;
  MemoryKit kit;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i], next = word_at(words, i + 1);
    std::string_view digits = next;
    for (const std::string_view unit : {"mt", "mts", "mhz"})
      if (const auto d = number_before(next, unit); !d.empty()) digits = d;
    if ((word.starts_with("ddr") || word.starts_with("lpddr")) && is_number(digits) &&
        digits.size() <= 5) {
      kit.rate = number_of(digits);
      device.kit_text.insert(device.kit_text.end(), {std::string(word), std::string(digits)});
      i += word_at(words, i + 2) == "s" ? 2 : 1;
    } else if (const auto channels = channels_of(word, next)) {
      kit.channels = channels;
      i += number_before(word, "ch").empty();
    } else {
      rest.emplace_back(word);
    }
  }
  words = std::move(rest);
  if (kit.rate > 0) device.kit = kit;
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

TypedDevice typed_device(std::string_view typed) {
  constexpr std::size_t kLongest = 400;
  TypedDevice device;
  if (typed.size() > kLongest) return device;  // no name
  Words words = joined(split(typed));
  take_kit(words, device);
  for (std::size_t i = 0, used = 0; i < words.size(); i += std::max<std::size_t>(used, 1)) {
    const std::string cores = cores_at(words, i, used);
    if (!cores.empty()) device.cores = cores;
    if (used > 0) continue;
    if (!number_before(words[i], "gb").empty())
      device.size = words[i];
    else if (!is_vendor_word(words[i]) && !is_one_of(words[i], {"r", "tm"}))
      device.words.push_back(words[i]);
  }
  // "DDR5-7200 dual channel" alone is any desktop with it.
  if (device.words.empty() && device.kit) device.words.push_back(device.kit_text[0]);
  return device;
}

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
