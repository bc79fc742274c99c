// SPDX-License-Identifier: Apache-2.0
// What answers about a machine of several parts say in sentences.
#pragma once
#include <string>

#include "cost/machine.h"
#include "plan/setup.h"
#include "report/split.h"

namespace kvplan {

// "all 48 layers and the output on GPUs, the experts of the first 12 on the host"
std::string split_text(const SplitAnswer&);
// "at most 61.2 tokens/s, 44.1 with its parts in turn at 8,192 tokens of context"
std::string decode_text(const Machine&, const DecodeOnMachine&);
// Yes or no, and why.
std::string verdict_text(const std::string& who, const Machine&, const SplitAnswer&, const Load&,
                         const DecodeOnMachine&, bool fast_enough);

}  // namespace kvplan
