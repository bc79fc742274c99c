// SPDX-License-Identifier: Apache-2.0
#include "engine/llamacpp/tensor_names.h"

#include <algorithm>
#include <array>

namespace kvplan::llamacpp {
namespace {

struct Named {
  std::string_view ends, gguf;  // of a module's path; inside a block
};
constexpr std::array kAttention = {
    Named{"q_proj", "attn_q"},       Named{"k_proj", "attn_k"},
    Named{"v_proj", "attn_v"},       Named{"o_proj", "attn_output"},
    Named{"qkv_proj", "attn_qkv"},   Named{"q_a_proj", "attn_q_a"},
    Named{"q_b_proj", "attn_q_b"},   Named{"kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    Named{"kv_b_proj", "attn_kv_b"}, Named{"kv_b", "attn_kv_b"},
    Named{"k_b_proj", "attn_k_b"},   Named{"v_b_proj", "attn_v_b"}};
// Longer ends first.
constexpr std::array kFeedForward = {Named{"gate_up_proj", "ffn_gate_up"},
                                     Named{"gate_proj", "ffn_gate"}, Named{"up_proj", "ffn_up"},
                                     Named{"down_proj", "ffn_down"}};

template <std::size_t N>
std::string_view inside_block(const std::array<Named, N>& table, std::string_view module) {
  for (const Named& n : table)
    if (module == n.ends || module.ends_with(std::string(".").append(n.ends))) return n.gguf;
  return {};
}

std::string block_name(const Weight& w) {
  std::string_view module = w.name;
  const bool bias = module.ends_with(".bias");
  if (bias) module.remove_suffix(5);
  std::string name;
  switch (w.role) {
    case Role::routed_expert:
    case Role::shared_expert:
    case Role::mlp:
      name = inside_block(kFeedForward, module);
      if (!name.empty() && w.role == Role::routed_expert) name += "_exps";
      if (!name.empty() && w.role == Role::shared_expert) name += "_shexp";
      break;
    case Role::router:
      name = "ffn_gate_inp";
      break;
    default:
      name = inside_block(kAttention, module);
  }
  return name.empty() ? name : name + (bias ? ".bias" : ".weight");
}

}  // namespace

std::string tensor_name(const Weight& w, std::size_t layer) {
  const std::string inside = block_name(w);
  return inside.empty() ? inside : "blk." + std::to_string(layer) + "." + inside;
}

std::regex tensor_pattern(const std::string& pattern) {
  constexpr std::ptrdiff_t kMostRepeats = 4;
  const auto refuse = [&](const std::string& what) {
    return Error(what + ": " + pattern.substr(0, 100))
        .of("override_tensor")
        .advise("Write PATTERN=CPU, as in exps=CPU or blk\\.(1|2)\\.ffn_.*=CPU.");
  };
  const auto is_repeat = [](char c) { return c == '*' || c == '+' || c == '{'; };
  if (std::count_if(pattern.begin(), pattern.end(), is_repeat) > kMostRepeats ||
      pattern.size() > 500)
    throw refuse("this pattern is too intricate");
  for (std::size_t i = 1; i < pattern.size(); ++i)
    if (pattern[i - 1] == ')' && is_repeat(pattern[i]))
      throw refuse("a group that repeats is not followed here");
  try {
    return std::regex(pattern);
  } catch (const std::regex_error&) {
    throw refuse("this is no regular expression");
  }
}

}  // namespace kvplan::llamacpp
