// SPDX-License-Identifier: Apache-2.0
// Optimal string alignment distance (Damerau 1964, each pair swapped at most once).
#include "nearest.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kvplan {
namespace {

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != ' ' && c != '-' && c != '_' && c != '.')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> near_misses(std::string_view name,
                                     const std::vector<std::string>& candidates, std::size_t most) {
  constexpr std::size_t kLongest = 80;  // nothing that people name is longer
  const std::string typed = folded(name.substr(0, kLongest));
  if (typed.empty()) return {};
  std::vector<std::pair<std::size_t, std::size_t>> scored;  // (distance, index)
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string candidate = folded(std::string_view(candidates[i]).substr(0, kLongest));
    const std::size_t allowed = 1 + std::min(typed.size(), candidate.size()) / 4;
    const bool part = typed.size() >= 3 && candidate.find(typed) != std::string::npos;
    const std::size_t d = distance(typed, candidate);
    if (d <= allowed || part) scored.emplace_back(part ? std::min<std::size_t>(d, 2) : d, i);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> near;
  for (const auto& [d, i] : scored)
    if (near.size() < most && std::find(near.begin(), near.end(), candidates[i]) == near.end())
      near.push_back(candidates[i]);
  return near;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> near = near_misses(name, candidates);
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "Did you mean " : i + 1 == near.size() ? " or " : ", ") + near[i];
  return text.empty() ? text : text + "?";
}

}  // namespace kvplan
