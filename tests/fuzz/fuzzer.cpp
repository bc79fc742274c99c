// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry for one target: fuzz_gguf, fuzz_json, … (preset `fuzz`).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "error.h"
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const kvplan::fuzz::Target& target : kvplan::fuzz::targets())
    if (target.name == KVPLAN_FUZZ_TARGET) try {
        target.run({reinterpret_cast<const char*>(data), size});
      } catch (const kvplan::Error&) {
      }
  return 0;
}
