// SPDX-License-Identifier: Apache-2.0
// A device as people write it: "MacBook Pro M4 Max (40 GPU) 64GB", "i9-14900K, dual-channel
// DDR5-6000": its words, and what of them says a size, cores or memory modules.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace kvplan
