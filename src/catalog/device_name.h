// SPDX-License-Identifier: Apache-2.0
// A device as people write it: "MacBook Pro M4 Max (40 GPU) 64GB", "i9-14900K, dual-channel
// DDR5-6000". What names a part is told from what says its size and from mere remarks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/node.h"

namespace kvplan {

// Memory modules that somebody states beside a processor.
struct MemoryKit {
  std::int64_t rate = 0;  // million transfers a second
  std::optional<std::int64_t> channels;
};

struct TypedDevice {
  std::vector<std::string> words;     // lower case, without the vendor
  std::string size;                   // "24gb", or empty
  std::string cores;                  // "40core", of the GPU where several are said; or empty
  std::vector<std::string> kit_text;  // the words that state `kit`
  std::optional<MemoryKit> kit;
};
TypedDevice typed_device(std::string_view typed);

// A way to look the typed name up: words [from, to) with or without cores and size.
struct Spelling {
  std::string key;  // normalized
  std::size_t from = 0, to = 0;
  bool has_cores = false, has_size = false;
};
// Those that use most words first; bounded whatever was typed.
std::vector<Spelling> spellings(const TypedDevice&);

// Whether all that the spelling leaves out is what the device's file says too (its memory, cores,
// architecture…) or a remark about the card, its maker or the computer around it.
bool leaves_nothing_out(const TypedDevice&, const Spelling&, const Node& file);

}  // namespace kvplan
