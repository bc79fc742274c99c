// SPDX-License-Identifier: Apache-2.0
// How names are compared: as people say them, whatever the case, the separators and the vendor.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/node.h"

namespace kvplan {

// Lower case without spaces, dashes, underscores, parentheses and vendor words: "NVIDIA GeForce RTX
// 4090" and "rtx4090" are one name. Dots and slashes count: "qwen2.5" is not "qwen25".
std::string normalized(std::string_view name);

// Whether a word says who makes a thing, not which: "nvidia", "geforce", "gpu". Lower case.
bool is_vendor_word(std::string_view word);

// "8xh100-sxm", "8 x H100", "H100 x8", "dual RTX 3090": so many of them. No number means one, and
// "7900xtx" is a card. Throws Error for none.
struct Counted {
  std::int64_t count = 1;
  std::string name;
};
Counted counted(std::string_view typed);

// Without what stands in the last parentheses; the same text where there are none.
std::string without_remark(std::string_view name);

// "64 GiB" → "64gb", as people add it to a name.
std::string size_word(std::string_view marketed);

// One name under which a catalog file is found.
struct IndexedName {
  enum Use {
    name,     // canonical
    alias,    // another word for exactly this
    family,   // a looser word, for which this is the fastest part
    instance  // what a cloud rents with `count` of it
  } use = name;
  std::string written, key;  // as the file has it, and normalized
  std::string marketed;      // where the name asks for one of several memory sizes: "64 GiB"
  std::int64_t count = 1;    // of an instance
  bool implied = false;      // follows from another name: with a size, without the organisation
};
// Throws Error when the file has no name.
std::vector<IndexedName> names_in(const Node& file);

}  // namespace kvplan
