// SPDX-License-Identifier: Apache-2.0
// Words of a command line → quantities. Each function throws Error that says what is accepted; the
// caller adds the flag. k and m are 1024 and 1024 * 1024.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "units.h"

namespace kvplan {

// A length in tokens; empty: "max", the longest that the model was made for.
struct AskedLength {
  std::optional<Tokens> tokens;

  Tokens or_max(Tokens longest) const { return tokens.value_or(longest); }
  friend bool operator==(const AskedLength&, const AskedLength&) = default;
};

// One integer: "8", "32k", "1.5m", "131,072".
std::int64_t count_of(std::string_view word, std::int64_t least = 1);
// Integers, lists and ranges, in the order typed: "1,8,32", "1..256*2", "512-4096+512", "1..4".
std::vector<std::int64_t> counts_of(std::string_view words, std::int64_t least = 1);
// As above, with "max" as an item.
std::vector<AskedLength> lengths_of(std::string_view words, std::int64_t least = 1);

// A size with its unit: "24GiB", "80 GB", "123B". Fractions of a byte are cut.
Bytes size_of(std::string_view word);
// A rate with its unit: "3.35TB/s", "900 GB/s".
BytesPerSecond bandwidth_of(std::string_view word);
// A share above 0 and at most 1: "0.9", "90%".
double share_of(std::string_view word);
// A finite number above 0.
double positive_of(std::string_view word);
// Two counts: "512+64", "512,64".
std::pair<std::int64_t, std::int64_t> pair_of(std::string_view word);
// Words between commas, none of them empty: "attention,mlp".
std::vector<std::string> words_of(std::string_view words);
// "max-num-seqs=256" → {"max_num_seqs", "256"}: an engine's own flag, '-' as '_'.
std::pair<std::string, std::string> setting_of(std::string_view word);

}  // namespace kvplan
