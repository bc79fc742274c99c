// SPDX-License-Identifier: Apache-2.0
// What hostile bytes are given to: the readers of files, one function each. They take an Error for
// an answer; anything else that is thrown, and any broken promise, is a fault.
#pragma once
#include <span>
#include <stdexcept>
#include <string_view>

namespace kvplan::fuzz {

struct Target {
  std::string_view name;  // of the folder of its corpus, too
  void (*run)(std::string_view bytes);
};
std::span<const Target> targets();

struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace kvplan::fuzz
