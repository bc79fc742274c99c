// SPDX-License-Identifier: Apache-2.0
// Lists and ranges of values.h; a range is written as llama-bench writes it, or with two dots.
#include <algorithm>

#include "cli/values.h"
#include "cli/words.h"

namespace kvplan {
namespace {

constexpr std::string_view kListHint =
    "Give numbers, lists or ranges: 4k,32k or 1..256*2 or 512-4096+512 (k = 1024).";

struct Range {
  std::string_view first, last;
  std::int64_t step = 1;
  bool multiply = false;
};

// "A..B", "A-B", either with "*F" or "+S" behind it. Empty when `word` is a plain item.
std::optional<Range> range_of(std::string_view word) {
  const std::size_t dots = word.find(".."), dash = word.find('-', 1);
  if (dots == std::string_view::npos && dash == std::string_view::npos) return std::nullopt;
  const bool dotted = dots != std::string_view::npos;
  Range range;
  range.first = trimmed(word.substr(0, dotted ? dots : dash));
  std::string_view tail = word.substr(dotted ? dots + 2 : dash + 1);
  const std::size_t sign = tail.find_first_of("*+");
  range.last = trimmed(tail.substr(0, sign));
  if (sign != std::string_view::npos) {
    range.multiply = tail[sign] == '*';
    range.step = count_of(trimmed(tail.substr(sign + 1)), range.multiply ? 2 : 1);
  }
  return range;
}

void append_range(std::vector<std::int64_t>& out, std::string_view word, const Range& range,
                  std::int64_t least) {
  constexpr std::size_t kMost = 4096;
  if (range.first == "max" || range.last == "max")
    refuse(word, "has no end that is known here",
           "Write max as an item of its own: 4k..32k*2,max.");
  const std::int64_t first =
      count_of(range.first, range.multiply ? std::max<std::int64_t>(least, 1) : least);
  const std::int64_t last = count_of(range.last, least);
  if (last < first) refuse(word, "ends before it starts", kListHint);
  for (std::int64_t n = first; n <= last;) {
    if (out.size() >= kMost) refuse(word, "makes more than 4,096 values", kListHint);
    out.push_back(n);
    if (range.multiply ? n > last / range.step : n > last - range.step) break;
    n = range.multiply ? n * range.step : n + range.step;
  }
}

}  // namespace

std::vector<AskedLength> lengths_of(std::string_view words, std::int64_t least) {
  std::vector<AskedLength> lengths;
  for (const std::string_view word : split(words, ',')) {
    if (word.empty()) refuse(words, "has an empty item", kListHint);
    if (!lengths.empty() && word.size() == 3 && word[0] == '0')
      refuse(words, "looks like one number", "Write it without commas, which part lists: 32000.");
    if (lowered(word) == "max") {
      lengths.push_back({});
      continue;
    }
    std::vector<std::int64_t> counts;
    if (const std::optional<Range> range = range_of(word))
      append_range(counts, word, *range, least);
    else
      counts.push_back(count_of(word, least));
    for (const std::int64_t n : counts) lengths.push_back({Tokens(n)});
  }
  return lengths;
}

std::vector<std::int64_t> counts_of(std::string_view words, std::int64_t least) {
  std::vector<std::int64_t> counts;
  for (const AskedLength& length : lengths_of(words, least)) {
    if (!length.tokens) refuse("max", "is not a number here", kListHint);
    counts.push_back(length.tokens->n);
  }
  return counts;
}

std::vector<std::string> words_of(std::string_view words) {
  std::vector<std::string> out;
  for (const std::string_view word : split(words, ',')) {
    if (word.empty()) refuse(words, "has an empty item", "Separate words by commas.");
    out.emplace_back(word);
  }
  return out;
}

}  // namespace kvplan
