// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_words.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostOfOne = 64;  // equal GPUs in one machine

bool is_known(const Catalog& catalog, std::string_view word) {
  try {
    catalog.device(catalog.counted(word).name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Fills `words` with known names that make up the text; shorter first words are tried first.
bool split(const Catalog& catalog, std::string_view text, std::vector<std::string>& words) {
  for (std::size_t plus = text.find('+'); plus != text.npos; plus = text.find('+', plus + 1)) {
    if (!is_known(catalog, text.substr(0, plus))) continue;
    words.emplace_back(text.substr(0, plus));
    if (split(catalog, text.substr(plus + 1), words)) return true;
    words.pop_back();
  }
  if (!is_known(catalog, text)) return false;
  words.emplace_back(text);
  return true;
}

}  // namespace

std::vector<std::string> device_words(const Catalog& catalog, std::string_view typed) {
  constexpr std::size_t kLongest = 400;
  std::vector<std::string> words;
  if (typed.find('+') == typed.npos || typed.size() > kLongest || is_known(catalog, typed))
    return {std::string(typed)};
  if (split(catalog, typed, words)) return words;
  for (std::size_t from = 0, plus = 0; plus != typed.npos; from = plus + 1) {
    plus = typed.find('+', from);
    words.emplace_back(typed.substr(from, plus == typed.npos ? plus : plus - from));
  }
  return words;
}

std::vector<DeviceSpec> devices_named(const Catalog& catalog, std::string_view typed,
                                      std::vector<std::string>* notes) {
  std::vector<DeviceSpec> devices;
  for (const std::string& word : device_words(catalog, typed)) {
    const Counted named = catalog.counted(word);
    if (named.count > kMostOfOne)
      throw Error("more than " + std::to_string(kMostOfOne) + " devices in one machine").of(word);
    std::string note;
    const DeviceSpec device = catalog.device(named.name, &note);
    if (!note.empty() && notes) notes->push_back(note);
    devices.insert(devices.end(), static_cast<std::size_t>(named.count), device);
  }
  return devices;
}

}  // namespace kvplan
