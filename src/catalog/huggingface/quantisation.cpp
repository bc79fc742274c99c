// SPDX-License-Identifier: Apache-2.0
// Which format each weight has in the checkpoint: quantization_config, hf_quant_config.json, MLX's
// `quantization`.
#include <algorithm>
#include <set>

#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

// Names that a scheme leaves alone. Patterns hold '*'; "re:" expressions are taken as patterns when
// they are as simple.
class Excluded {
 public:
  void add(std::string name) {
    if (name.starts_with("re:")) name = as_pattern(name.substr(3));
    name = stripped(name);
    if (name.find('*') == name.npos)
      exact_.insert(std::move(name));
    else
      patterns_.push_back(std::move(name));
  }
  // A module is excluded by its own name or by that of a module that contains it; either may be a
  // pattern.
  bool contains(std::string_view module) const {
    for (std::size_t end = module.size(); end != module.npos && end > 0;
         end = module.rfind('.', end - 1)) {
      const std::string_view name = module.substr(0, end);
      if (exact_.contains(name) ||
          std::any_of(patterns_.begin(), patterns_.end(),
                      [&](const std::string& p) { return matches(p, name); }))
        return true;
    }
    return false;
  }

 private:
  static std::string stripped(std::string name) {
    for (const std::string_view prefix :
         {"model.language_model.", "language_model.model.", "language_model.", "model."})
      if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
  }
  static std::string as_pattern(std::string_view regex) {
    std::string out;
    for (std::size_t i = 0; i < regex.size(); ++i) {
      if (regex.substr(i, 2) == ".*")
        out += '*', ++i;
      else if (regex.substr(i, 2) == "\\.")
        out += '.', ++i;
      else if (regex[i] != '^' && regex[i] != '$')
        out += regex[i];
    }
    return out;
  }
  // '*' stands for any run of characters; linear in practice, never exponential.
  static bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = pattern.npos, mark = 0;
    while (t < text.size()) {
      if (p < pattern.size() && pattern[p] == '*')
        star = p++, mark = t;
      else if (p < pattern.size() && pattern[p] == text[t])
        ++p, ++t;
      else if (star != pattern.npos)
        p = star + 1, t = ++mark;
      else
        return false;
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
  }

  std::set<std::string, std::less<>> exact_;
  std::vector<std::string> patterns_;
};

struct Scheme {
  const Format* format = nullptr;         // of quantised matrices
  const Format* expert_format = nullptr;  // of routed experts, where they differ
  Excluded excluded;
  bool tables_too = false;  // MLX quantises the embedding and the head
};

const Format& integer_groups(std::int64_t bits, std::optional<std::int64_t> group) {
  const std::string name = "int" + std::to_string(bits);
  if (!group || *group < 0) return format_named(bits == 8 ? "int8-channel" : name);
  if (const Format* f = find_format(name + "-g" + std::to_string(*group))) return *f;
  throw Error("kv-plan has no format of " + std::to_string(bits) + " bits in groups of " +
              std::to_string(*group))
      .of("group_size");
}

const Format& float8(const Keys& k) {
  const auto block = k.integers({"weight_block_size"});
  if (!block.empty()) {
    if (block.size() == 2 && block[0] == 128 && block[1] == 128)
      return format_named("fp8-block128");
    throw Error("only blocks of 128 x 128 are known").of("weight_block_size");
  }
  return format_named("fp8-tensor");
}

const Format& modelopt(const std::string& algorithm) {
  if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4") return format_named("nvfp4");
  if (algorithm == "FP8" || algorithm == "FP8_PER_CHANNEL_PER_TOKEN")
    return format_named("fp8-tensor");
  if (algorithm == "MXFP8") return format_named("mxfp8");
  if (algorithm == "W4A16_AWQ" || algorithm == "W4A8_AWQ") return format_named("int4-g128");
  throw Error("quantisation '" + algorithm + "' is not known to kv-plan").of("quant_algo");
}

// compressed-tensors: the first group's weights.
const Format& compressed_tensors(const Keys& k) {
  const Node* groups = k.find({"config_groups"});
  if (!groups || groups->members.empty())
    throw Error("compressed-tensors without config_groups").of("config_groups");
  const Node* weights = groups->members.front().second.find("weights");
  if (!weights)
    throw Error("a config group without weights").of("config_groups").at_line(groups->line);
  const Keys w(*weights);
  const std::int64_t bits = w.count({"num_bits"}, 64);
  const std::string strategy = w.text({"strategy"});
  if (w.text({"type"}) == "float") {
    if (bits == 8)
      return strategy == "block"     ? format_named("fp8-block128")
             : strategy == "channel" ? format_named("fp8-channel")
                                     : format_named("fp8-tensor");
    const std::int64_t group = w.count_or({"group_size"}, 16);
    if (bits == 4) return format_named(group == 32 ? "mxfp4" : "nvfp4");
  }
  return integer_groups(bits, w.integer({"group_size"}, -1));
}

const Format& format_of(const Keys& k) {
  const std::string method = k.text({"quant_method"}), algorithm = k.text({"quant_algo"});
  if (method == "fp8") return float8(k);
  if (method == "fbgemm_fp8") return format_named("fp8-channel");
  if (method == "mxfp4") return format_named("mxfp4");
  if (method == "compressed-tensors") return compressed_tensors(k);
  if (method == "awq" || method == "gptq")
    return integer_groups(k.count_or({"bits", "w_bit"}, 4),
                          k.integer({"group_size", "q_group_size"}, -1));
  if (!algorithm.empty()) return modelopt(algorithm);
  throw Error("quantisation method '" + method + "' is not known to kv-plan")
      .of("quant_method")
      .advise("Name the format with --weights.");
}

void exclude_listed(const Keys& k, Scheme& scheme) {
  for (const std::string_view key :
       {"ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers"})
    for (std::string& name : k.texts({key})) scheme.excluded.add(std::move(name));
}

// hf_quant_config.json nests its keys in `quantization`.
const Node* scheme_node(const Draft& d, const Node* beside) {
  if (const Node* own = d.keys.find({"quantization_config"})) return own;
  if (const Node* own = d.top.find({"quantization_config"})) return own;
  if (beside)
    if (const Node* nested = beside->find("quantization")) return nested;
  return beside;
}

const Format* cache_hint(const Keys& k) {
  const Node* scheme = k.find({"kv_cache_scheme", "kv_cache_quant_algo"});
  if (!scheme || scheme->kind == Node::null) return nullptr;
  if (scheme->kind == Node::scalar) return find_format(scheme->text);
  return Keys(*scheme).integer({"num_bits"}) == 8 ? &format_named("fp8") : nullptr;
}

bool can_be_quantised(Role role) {
  return role == Role::attention || role == Role::state || role == Role::mlp ||
         role == Role::routed_expert || role == Role::shared_expert;
}

void apply(const Draft& d, const Scheme& scheme, std::vector<Weight>& weights,
           const std::string& prefix) {
  for (Weight& w : weights) {
    w.format = d.model.native;
    const bool table = w.role == Role::embedding || w.role == Role::head;
    if (!scheme.format || !(can_be_quantised(w.role) && w.is_matrix)) {
      if (scheme.format && scheme.tables_too && table && w.columns > 1) w.format = scheme.format;
      continue;
    }
    if (scheme.excluded.contains(prefix + std::string(w.name))) continue;
    w.format = w.role == Role::routed_expert && scheme.expert_format ? scheme.expert_format
                                                                     : scheme.format;
  }
}

}  // namespace

void read_formats(Draft& d, const Node* quantization) {
  Scheme scheme;
  if (const Node* node = scheme_node(d, quantization)) {
    const Keys k(*node);
    exclude_listed(k, scheme);
    d.model.cache_hint = cache_hint(k);
    const bool mixed = k.text({"quant_algo"}) == "MIXED_PRECISION";
    if (mixed) {
      // Per-module algorithms: experts are the part that matters; the rest follows the dense
      // method.
      scheme.expert_format = &format_named("nvfp4");
      scheme.format = &format_named("fp8-tensor");
      d.model.warnings.push_back(
          {"mixed-precision",
           "mixed precision: routed experts taken as nvfp4, other quantised matrices as fp8"});
    } else {
      scheme.format = &format_of(k);
    }
  } else if (const Node* mlx = d.top.find({"quantization"})) {
    const Keys k(*mlx);
    scheme.format = &integer_groups(k.count({"bits"}, 64), k.integer({"group_size"}, 1));
    scheme.tables_too = true;
  }
  if (scheme.format && d.keys.text({"expert_dtype"}) == "fp4")
    scheme.expert_format = &format_named("mxfp4");
  for (std::size_t i = 0; i < d.model.layers.size(); ++i)
    apply(d, scheme, d.model.layers[i].weights, "layers." + std::to_string(i) + ".");
  apply(d, scheme, d.model.ends, "");
  for (Weight& w : d.model.vision) w.format = d.model.native;
}

}  // namespace kvplan::huggingface
