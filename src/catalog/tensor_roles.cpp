// SPDX-License-Identifier: Apache-2.0
#include "catalog/tensor_roles.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "catalog/tensor_patterns.h"

namespace kvplan {
namespace {

// Components before a layer's number.
constexpr std::string_view kStacks[] = {"layers", "blk",   "h",          "blocks",
                                        "block",  "layer", "mtp_layers", "mtp_block"};
// Parts of names that lead to other modalities' towers and projectors.
constexpr std::string_view kTowers[] = {"vision",       "visual",    "vit",       "image",
                                        "audio",        "sam_model", "projector", "mm_",
                                        "patch_merger", "aligner",   "gen_",      "view_seperator"};

// Longer names are nobody's; ggml's own bound is 64.
constexpr std::size_t kLongestName = 200;

// '*' is any run of characters, '?' one. Linear in practice: only the last star is retried.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1, t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

const TensorRole* first_match(std::string_view module) {
  for (const TensorRole& role : tensor_patterns())
    if (matches(role.pattern, module)) return &role;
  return nullptr;
}

std::optional<std::int64_t> number(std::string_view component) {
  std::int64_t n = 0;
  const char* end = component.data() + component.size();
  const auto [stop, failure] = std::from_chars(component.data(), end, n);
  if (component.empty() || failure != std::errc() || stop != end || n < 0) return std::nullopt;
  return n;
}

bool contains_any(std::string_view text, const auto& parts) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

struct Split {
  std::string_view prefix;  // up to the layer's number; the whole name where there is none
  std::string rest;         // after it, other numbers as '*'
  std::optional<std::int64_t> layer, expert;
};

Split split(std::string_view module) {
  Split s;
  s.prefix = module;
  std::string_view before;
  for (std::size_t at = 0; at <= module.size();) {
    const std::size_t dot = std::min(module.find('.', at), module.size());
    const std::string_view part = module.substr(at, dot - at);
    const auto n = number(part);
    const bool is_layer =
        n && !s.layer &&
        std::find(std::begin(kStacks), std::end(kStacks), before) != std::end(kStacks);
    if (is_layer) {
      s.layer = n;
      s.prefix = module.substr(0, at);
      s.rest.clear();
    } else {
      if (n && s.layer && !s.expert) s.expert = n;
      if (!s.rest.empty()) s.rest += '.';
      s.rest += n ? "*" : part;
    }
    before = part;
    at = dot + 1;
  }
  return s;
}

}  // namespace

const TensorRole kTowerRole{"", "vision_tower", Role::vision};
const TensorRole kUnknownRole{"", "unknown", Role::mlp, Sharding::replicated, false};

const TensorRole* find_module(std::string_view module) {
  for (const TensorRole* role : {&kTowerRole, &kUnknownRole})
    if (role->module == module) return role;
  for (const TensorRole& role : tensor_patterns())
    if (role.module == module) return &role;
  return nullptr;
}

TensorPlace TensorPlaces::of(std::string_view module) {
  Split s = split(module);
  TensorPlace place;
  place.layer = s.layer;
  place.expert = s.expert;
  if (contains_any(s.prefix, kTowers)) {
    place.section = TensorPlace::vision;
    place.role = &kTowerRole;
    return place;
  }
  if (s.prefix.find("mtp") != s.prefix.npos) place.section = TensorPlace::mtp;
  place.of_encoder = s.prefix.starts_with("enc.") || s.prefix.find("encoder.") != s.prefix.npos;
  const auto [known, fresh] = known_.try_emplace(std::move(s.rest), nullptr);
  if (fresh && known->first.size() <= kLongestName) known->second = first_match(known->first);
  place.role = known->second;
  return place;
}

}  // namespace kvplan
