// SPDX-License-Identifier: Apache-2.0
// Modules that a scheme leaves alone or treats unlike the others.
#include "catalog/huggingface/scheme.h"

namespace kvplan::huggingface {
namespace {

void exclude_listed(const Keys& k, Scheme& scheme) {
  for (const std::string_view key : {"ignore", "modules_to_not_convert", "exclude_modules",
                                     "ignored_layers", "exclude", "llm_int8_skip_modules"}) {
    const std::int64_t n = k.length({key});
    for (std::int64_t i = 0; i < n; ++i) scheme.excluded.add(k.entry_text({key}, i).value_or(""));
  }
}

// One module, or an expression of several, whose integers are of another width or group.
void add_exception(const Node& said, const std::string& module, std::int64_t bits,
                   std::int64_t group, Scheme& scheme) {
  const Node none = map();
  const Keys own(said.kind == Node::map ? said : none);
  const std::int64_t own_bits = own.integer({"bits"}, 1, 64).value_or(bits),
                     own_group = own.integer({"group_size"}, -1).value_or(group);
  if (own_bits >= 16) return scheme.excluded.add(module);
  Scheme::Rule rule;
  rule.format = &integer_format(own, own_bits, own_group, true);
  rule.modules.add(module);
  scheme.rules.push_back(std::move(rule));
}

// GPTQModel's `dynamic` names modules by expression, "-:" before those that are left alone;
// AutoRound's `extra_config` by name, with 16 bits for those.
void add_exceptions(const Keys& k, Scheme& scheme) {
  const std::int64_t bits = k.integer({"bits", "w_bit"}, 1, 64).value_or(4),
                     group = k.integer({"group_size", "q_group_size"}, -1).value_or(128);
  if (const Node* dynamic = k.find({"dynamic"}))
    for (const auto& [name, said] : dynamic->members) {
      const bool marked = name.starts_with("+:") || name.starts_with("-:");
      const std::string expression = "re:" + name.substr(marked ? 2 : 0);
      if (name.starts_with("-:"))
        scheme.excluded.add(expression);
      else
        add_exception(said, expression, bits, group, scheme);
    }
  if (const Node* extra = k.find({"extra_config"}))
    for (const auto& [name, said] : extra->members) add_exception(said, name, bits, group, scheme);
}

}  // namespace

void read_exceptions(const Keys& k, Scheme& scheme) {
  exclude_listed(k, scheme);
  add_exceptions(k, scheme);
}

void add_remarks(const Keys& k, Scheme& scheme) {
  for (const std::string& text : scheme.excluded.not_understood())
    scheme.remarks.push_back("the pattern '" + text +
                             "' is not understood; what it excludes is counted as quantised");
  for (const Scheme::Rule& rule : scheme.rules)
    for (const std::string& text : rule.modules.not_understood())
      scheme.remarks.push_back("the pattern '" + text +
                               "' is not understood; what it names is counted as the rest is");
  const auto sparsity = k.if_inside({"sparsity_config"});
  if (sparsity && sparsity->text({"format"}, "dense") != "dense")
    scheme.remarks.push_back("weights stored as '" + sparsity->text({"format"}) +
                             "' are counted as if none were left out");
}

}  // namespace kvplan::huggingface
