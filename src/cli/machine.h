// SPDX-License-Identifier: Apache-2.0
// Which machine a request is about: its GPUs one by one, and its host.
#pragma once
#include <string>

#include "cli/resolve.h"
#include "cost/machine.h"

namespace kvplan {

struct Question {
  Resolved r;
  Machine machine;
};
// Throws Error for engines that do not place layers on unequal parts, for options that go with
// equal GPUs alone, and for hosts that are none.
Question question_on_parts(const Request&, const Catalog&);

// "NVIDIA GeForce RTX 4090 + 2 x NVIDIA GeForce RTX 3090 + AMD Ryzen 9 9950X".
std::string title_of(const Machine&);

}  // namespace kvplan
