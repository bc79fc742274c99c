// SPDX-License-Identifier: Apache-2.0
// Names of modules as quantisation schemes list them: exact names, '*' patterns and "re:"
// expressions, under the many spellings of different checkpoints.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::huggingface {

// The one spelling under which names are compared: wrappers' prefixes and expert numbers dropped,
// synonyms of a part replaced ("block_sparse_moe" is "mlp", "w1" is "gate_proj").
std::string canonical_module(std::string_view name);

class ModuleNames {
 public:
  // Error when there are more patterns than any checkpoint has.
  void add(std::string_view text);
  bool empty() const { return exact_.empty() && patterns_.empty(); }
  // Whether a module, given in canonical spelling, is named: itself, by a module around it, by its
  // last parts ("gate"), as part of a fused module ("qkv_proj") or by a pattern.
  bool contain(std::string_view module) const;
  // Expressions that kv-plan does not understand; they match nothing.
  const std::vector<std::string>& not_understood() const { return not_understood_; }

 private:
  bool contain_one(std::string_view module) const;

  std::set<std::string, std::less<>> exact_;
  std::vector<std::string> patterns_;
  std::vector<std::string> not_understood_;
};

// '*' stands for any run of characters, '#' for a run of digits; a pattern that ends where a part
// of the name ends has matched.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace kvplan::huggingface
