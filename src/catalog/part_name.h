// SPDX-License-Identifier: Apache-2.0
// Names of files that a model was split over: "name-00002-of-00005.gguf".
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvplan {

struct PartName {
  std::string stem, ending;            // the stem with its folder; ".gguf", ".safetensors"
  std::int64_t number = 1, count = 1;  // number from 1

  std::string at(std::int64_t number) const;  // another part's name
};

// Empty where the name has another form, or counts that make no sense.
std::optional<PartName> part_name(std::string_view path, std::string_view ending);

}  // namespace kvplan
