// SPDX-License-Identifier: Apache-2.0
// The names that tensor overrides are matched against.
#pragma once
#include <cstdint>
#include <regex>
#include <string>

#include "model/spec.h"

namespace kvplan::llamacpp {

// "blk.7.ffn_gate_exps.weight" of a weight of layer 7, as gguf-py's tensor_mapping.py has it; empty
// for names that are not known here.
std::string tensor_name(const Weight&, std::size_t layer);

// A pattern of --override-tensor. Throws Error where it is no regular expression, and for one that
// repeats groups or so often that a search may take for ever.
std::regex tensor_pattern(const std::string& pattern);

}  // namespace kvplan::llamacpp
