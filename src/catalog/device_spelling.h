// SPDX-License-Identifier: Apache-2.0
// The ways to look a typed device up in the catalog, and whether what a spelling leaves out is a
// mere remark.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "catalog/device_name.h"
#include "catalog/node.h"

namespace kvplan {

// Words [from, to) with or without cores and size.
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
