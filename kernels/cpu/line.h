// SPDX-License-Identifier: Apache-2.0
// Numbers in whole cache lines: a load of 64 bytes that a border cuts takes twice as long.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "units.h"

namespace kvplan {

template <class T>
class Lines {
 public:
  Lines() = default;
  explicit Lines(std::int64_t count)
      : lines_(static_cast<std::size_t>(ceil_div(count, kNumbers))) {}

  T* data() { return lines_.data()->numbers.data(); }
  const T* data() const { return lines_.data()->numbers.data(); }

 private:
  static constexpr std::int64_t kNumbers = 64 / sizeof(T);
  struct alignas(64) Line {
    std::array<T, kNumbers> numbers{};
  };
  std::vector<Line> lines_;
};

}  // namespace kvplan
