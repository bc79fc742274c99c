// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_name.h"

#include <algorithm>

#include "catalog/names.h"
#include "catalog/typed_words.h"

namespace kvplan {
namespace {

using Words = std::vector<std::string>;

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
  // "DDR5-7200 dual channel" alone is any desktop with it; one of each generation is known.
  if (device.words.empty() && device.kit) {
    const std::string& type = device.kit_text[0];
    const bool old = type.ends_with("3") || type.ends_with("4") || type.ends_with("4x");
    device.words.push_back(old ? "ddr4" : "ddr5");
  }
  return device;
}

}  // namespace kvplan
