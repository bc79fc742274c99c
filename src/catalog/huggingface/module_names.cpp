// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/module_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "catalog/huggingface/expression.h"
#include "error.h"

namespace kvplan::huggingface {
namespace {

constexpr std::size_t kMostPatterns = 4096;

struct Synonym {
  std::string_view from, to;
};
constexpr std::array kParts = {
    Synonym{"block_sparse_moe", "mlp"},
    Synonym{"feed_forward", "mlp"},
    Synonym{"ffn", "mlp"},
    Synonym{"moe", "mlp"},
    Synonym{"attn", "self_attn"},
    Synonym{"self_attention", "self_attn"},
    Synonym{"attention", "self_attn"},
    Synonym{"shared_expert", "shared_experts"},
    Synonym{"router", "gate"},
    Synonym{"w1", "gate_proj"},
    Synonym{"w3", "up_proj"},
    Synonym{"w2", "down_proj"},
    Synonym{"head", "lm_head"},
    Synonym{"embed", "embed_tokens"},
    Synonym{"embeddings", "embed_tokens"},
    Synonym{"wte", "embed_tokens"},
    Synonym{"h", "layers"},
    Synonym{"blocks", "layers"},
};
// What stands below Nemotron-H's "mixer" says which kind of block it is.
constexpr std::array kOfMixer = {
    Synonym{"q_proj", "self_attn"},
    Synonym{"k_proj", "self_attn"},
    Synonym{"v_proj", "self_attn"},
    Synonym{"o_proj", "self_attn"},
    Synonym{"experts", "mlp"},
    Synonym{"shared_experts", "mlp"},
    Synonym{"gate", "mlp"},
    Synonym{"up_proj", "mlp"},
    Synonym{"down_proj", "mlp"},
    Synonym{"fc1_latent_proj", "mlp"},
    Synonym{"fc2_latent_proj", "mlp"},
};
constexpr std::array kFused = {
    Synonym{"q_proj", "qkv_proj"},        Synonym{"k_proj", "qkv_proj"},
    Synonym{"v_proj", "qkv_proj"},        Synonym{"gate_proj", "gate_up_proj"},
    Synonym{"up_proj", "gate_up_proj"},   Synonym{"in_proj_qkv", "in_proj_qkvz"},
    Synonym{"in_proj_z", "in_proj_qkvz"}, Synonym{"in_proj_b", "in_proj_ba"},
    Synonym{"in_proj_a", "in_proj_ba"},
};

template <std::size_t N>
std::string_view replaced(const std::array<Synonym, N>& table, std::string_view word) {
  for (const Synonym& s : table)
    if (s.from == word) return s.to;
  return {};
}

bool is_number(std::string_view part) {
  return part == "*" || part == "#" ||
         (!part.empty() && std::all_of(part.begin(), part.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; }));
}

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    parts.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A synonym's spelling, with the stars around it kept.
std::string canonical_part(const std::string& part) {
  const std::size_t begin = part.find_first_not_of('*');
  if (begin == part.npos) return part;
  const std::size_t end = part.find_last_not_of('*') + 1;
  const std::string_view to = replaced(kParts, std::string_view(part).substr(begin, end - begin));
  return to.empty() ? part : part.substr(0, begin) + std::string(to) + part.substr(end);
}

std::string_view without_wrappers(std::string_view name) {
  constexpr std::string_view kWrappers[] = {"model.", "language_model.", "backbone.",
                                            "transformer.", "thinker."};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view wrapper : kWrappers)
      if (name.starts_with(wrapper)) name.remove_prefix(wrapper.size()), again = true;
  }
  return name;
}

}  // namespace

std::string canonical_module(std::string_view name) {
  std::vector<std::string> parts = parts_of(without_wrappers(name));
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && parts[i - 1] == "experts" && is_number(parts[i])) continue;
    std::string part = canonical_part(parts[i]);
    if (part == "mixer" && i + 1 < parts.size()) {
      const std::string_view of = replaced(kOfMixer, canonical_part(parts[i + 1]));
      if (!of.empty()) part = of;
    }
    if (i > 0) out += '.';
    out += part;
  }
  return out;
}

void ModuleNames::add(std::string_view text) {
  std::vector<std::string> patterns;
  if (text.starts_with("re:")) {
    const auto expanded = patterns_of_expression(text.substr(3));
    if (!expanded) return not_understood_.emplace_back(text), void();
    patterns = *expanded;
  } else {
    patterns.emplace_back(text);
  }
  for (const std::string& pattern : patterns) {
    std::string name = canonical_module(pattern);
    if (name.find_first_of("*#") == name.npos)
      exact_.insert(std::move(name));
    else
      patterns_.push_back(std::move(name));
  }
  if (patterns_.size() > kMostPatterns)
    throw Error("the quantisation scheme lists more than 4,096 patterns");
}

bool ModuleNames::contain_one(std::string_view module) const {
  // Any run of whole parts may be what the list names.
  for (std::size_t begin = 0; begin < module.size();) {
    for (std::size_t end = module.size(); end != module.npos && end > begin;
         end = end == 0 ? module.npos : module.rfind('.', end - 1))
      if (exact_.contains(module.substr(begin, end - begin))) return true;
    const std::size_t dot = module.find('.', begin);
    if (dot == module.npos) break;
    begin = dot + 1;
  }
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& p) { return matches_pattern(p, module); });
}

bool ModuleNames::contain(std::string_view module) const {
  if (empty()) return false;
  if (contain_one(module)) return true;
  const std::size_t last = module.rfind('.') + 1;  // 0 where there is no dot
  const std::string_view fused = replaced(kFused, module.substr(last));
  return !fused.empty() && contain_one(std::string(module.substr(0, last)) + std::string(fused));
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  const auto digit = [&](std::size_t i) {
    return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0;
  };
  std::size_t p = 0, t = 0, star = pattern.npos, mark = 0;
  while (true) {
    if (p == pattern.size() && (t == name.size() || name[t] == '.')) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, mark = t;
    } else if (p < pattern.size() && pattern[p] == '#' && digit(t)) {
      while (digit(t)) ++t;
      ++p;
    } else if (p < pattern.size() && t < name.size() && pattern[p] == name[t]) {
      ++p, ++t;
    } else if (star != pattern.npos && mark < name.size()) {
      p = star + 1, t = ++mark;
    } else {
      return false;
    }
  }
}

}  // namespace kvplan::huggingface
