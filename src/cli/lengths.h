// SPDX-License-Identifier: Apache-2.0
// --lengths: final lengths as a list, or a file of requests.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plan/lengths.h"

namespace kvplan {

// "500,2k" or the path of a trace. Lines of a trace are csv with a header (Azure's ContextTokens
// and GeneratedTokens, Vidur's num_prefill_tokens and num_decode_tokens, BurstGPT's, input_tokens
// and output_tokens), JSON objects (Mooncake's input_length and output_length), or bare numbers: a
// length, or input and output. Requests of no tokens are left out. Throws Error with file and line.
std::vector<RequestLength> request_lengths(const std::string& list_or_path);
std::vector<RequestLength> parse_request_lengths(std::string_view text);

}  // namespace kvplan
