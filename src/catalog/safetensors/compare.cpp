// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/compare.h"

#include <map>
#include <string>

#include "model/parameters.h"

namespace kvplan::safetensors {
namespace {

using Weights = std::vector<Weight>;

std::map<Role, std::int64_t> by_role(const Weights& weights) {
  std::map<Role, std::int64_t> sums;
  for (const Weight& w : weights)
    if (!w.is_auxiliary) sums[w.role] = checked_add(sums[w.role], w.elements());
  return sums;
}

std::int64_t total(const std::map<Role, std::int64_t>& sums) {
  std::int64_t n = 0;
  for (const auto& [role, count] : sums) n = checked_add(n, count);
  return n;
}

// "attention 41 instead of 40, norm 3 instead of 2"; empty where the totals agree: some names
// leave open which role they have.
std::string difference(const Weights& configured, const Weights& stored) {
  auto expected = by_role(configured), found = by_role(stored);
  if (total(expected) == total(found)) return {};
  std::string text;
  for (const auto& [role, count] : expected) found.try_emplace(role, 0);
  for (const auto& [role, count] : found) {
    if (count == expected[role]) continue;
    text += (text.empty() ? "" : ", ") + std::string(name_of(role)) + " " + std::to_string(count) +
            " instead of " + std::to_string(expected[role]);
  }
  return text;
}

void compare_layers(const ModelSpec& configured, const ModelSpec& stored,
                    std::vector<Warning>& warnings) {
  struct Same {
    std::size_t first = 0, count = 0;
  };
  std::map<std::string, Same> differences;
  for (std::size_t i = 0; i < configured.layers.size() && i < stored.layers.size(); ++i) {
    if (configured.layers[i].role != Layer::main) continue;
    const std::string text = difference(configured.layers[i].weights, stored.layers[i].weights);
    if (text.empty()) continue;
    Same& same = differences[text];
    if (same.count++ == 0) same.first = i;
  }
  for (const auto& [text, same] : differences)
    warnings.push_back(
        {"layer-differs",
         "parameters of layer " + std::to_string(same.first) +
             (same.count > 1 ? " and " + std::to_string(same.count - 1) + " others" : "") + ": " +
             text});
}

}  // namespace

std::vector<Warning> compare(const ModelSpec& configured, const ModelSpec& stored) {
  std::vector<Warning> warnings;
  compare_layers(configured, stored, warnings);
  if (const std::string text = difference(configured.ends, stored.ends); !text.empty())
    warnings.push_back({"ends-differ", "parameters outside the layers: " + text});
  if (const std::string text = difference(configured.vision, stored.vision); !text.empty())
    warnings.push_back({"vision-differs", "parameters of the tower: " + text});
  const std::int64_t drafts = count_parameters(stored).mtp,
                     expected = count_parameters(configured).mtp;
  if (drafts > 0 && expected == 0)
    warnings.push_back({"mtp-not-in-config", "the files store prediction layers of " +
                                                 std::to_string(drafts) +
                                                 " parameters that the configuration does not "
                                                 "mention"});
  else if (drafts > 0 && drafts != expected)
    warnings.push_back({"mtp-differs", "the files store prediction layers of " +
                                           std::to_string(drafts) + " parameters instead of " +
                                           std::to_string(expected)});
  return warnings;
}

}  // namespace kvplan::safetensors
