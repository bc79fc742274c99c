// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/scheme.h"

#include <map>

namespace kvplan::huggingface {
namespace {

constexpr const char* kAdvice =
    "Take the quantisation out of a copy of the configuration and name the format with --weights.";

[[noreturn]] void refuse(const Keys& k, Names key, const std::string& what) {
  try {
    k.refuse(key, what);
  } catch (Error& e) {
    throw e.advise(kAdvice);
  }
}

const Format& known(const Keys& k, Names key, const std::string& name) {
  if (const Format* format = find_format(name)) return *format;
  refuse(k, key, "kv-plan has no format '" + name + "'");
}

const Format& float8(const Keys& k) {
  const auto rows = k.entry_integer({"weight_block_size"}, 0),
             columns = k.entry_integer({"weight_block_size"}, 1);
  if (!rows || !columns) return format_named("fp8-tensor");
  if (*rows != 128 || *columns != 128)
    refuse(k, {"weight_block_size"}, "only blocks of 128 x 128 are known");
  return format_named("fp8-block128");
}

// ModelOpt's names of algorithms.
const Format* modelopt(const Keys& k, const std::string& algorithm) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"NVFP4", "nvfp4"},
      {"W4A16_NVFP4", "nvfp4"},
      {"NVFP4_AWQ", "nvfp4"},
      {"FP8", "fp8-tensor"},
      {"MXFP8", "mxfp8"},
      {"FP8_PER_CHANNEL_PER_TOKEN", "fp8-channel"},
      {"FP8_PB_WO", "fp8-block128"},
      {"MXFP4", "mxfp4"},
      {"W4A16_MXFP4", "mxfp4"},
      {"W4A8_MXFP4_FP8", "mxfp4"},
      {"W4A16_AWQ", "int4-g128"},
      {"W4A8_AWQ", "int4-g128"},
      {"W8A8_SQ_PER_CHANNEL", "int8-channel"}};
  for (const auto& [name, format] : kNames)
    if (name == algorithm) return &format_named(format);
  if (algorithm == "NONE" || algorithm == "None") return nullptr;
  refuse(k, {"quant_algo"}, "quantisation '" + algorithm + "' is not known to kv-plan");
}

// The weights of one group of compressed-tensors (ModelOpt writes the same).
const Format& group_format(const Keys& w) {
  const std::int64_t bits = w.count({"num_bits"}, 64);
  const std::int64_t group = w.integer({"group_size"}, -1).value_or(0);
  const std::string strategy = w.text({"strategy"}), type = w.text({"type"}, "int");
  if (type == "int") return integer_format(w, bits, group, !w.flag({"symmetric"}, true));
  if (type != "float") refuse(w, {"type"}, "kv-plan does not know '" + type + "'");
  if (bits == 8 && group == 32) return format_named("mxfp8");
  if (bits == 8)
    return format_named(strategy == "block"     ? "fp8-block128"
                        : strategy == "channel" ? "fp8-channel"
                                                : "fp8-tensor");
  if (bits == 4) return format_named(group == 32 ? "mxfp4" : "nvfp4");
  refuse(w, {"num_bits"}, "kv-plan has no float format of " + std::to_string(bits) + " bits");
}

void add_groups(const Keys& groups, Scheme& scheme) {
  for (const auto& [name, node] : groups.node().members) {
    const Keys group = groups.inside({std::string_view(name)});
    const auto weights = group.if_inside({"weights"});
    if (!weights) continue;
    Scheme::Rule rule;
    rule.format = &group_format(*weights);
    const std::int64_t targets = group.length({"targets"});
    for (std::int64_t i = 0; i < targets; ++i) {
      const std::string target = group.entry_text({"targets"}, i).value_or("");
      if (target == "Linear")
        scheme.rest = rule.format;
      else
        rule.modules.add(target);
    }
    if (!rule.modules.empty()) scheme.rules.push_back(std::move(rule));
  }
}

// ModelOpt's list of modules and their algorithms: one rule a format.
void add_listed_modules(const Keys& k, const Node& modules, Scheme& scheme) {
  std::map<std::string, Scheme::Rule> by_algorithm;
  for (const auto& [name, node] : modules.members) {
    const Node* said = node.find("quant_algo");
    const std::string algorithm = said ? said->text : "NONE";
    Scheme::Rule& rule = by_algorithm[algorithm];
    rule.format = modelopt(k, algorithm);
    rule.modules.add(name);
  }
  for (auto& [algorithm, rule] : by_algorithm) scheme.rules.push_back(std::move(rule));
}

// AMD Quark: one format for all, by data type and grouping.
const Format& quark(const Keys& k) {
  const Keys w = k.inside({"global_quant_config"}).inside({"weight"});
  const std::string type = w.text({"dtype"}), grouping = w.text({"qscheme"});
  if (type == "fp4") return format_named("mxfp4");
  if (type.starts_with("fp8"))
    return format_named(grouping == "per_channel" ? "fp8-channel" : "fp8-tensor");
  if (type == "int8") return format_named("int8-channel");
  if (type == "int4" || type == "uint4")
    return integer_format(w, 4, w.integer({"group_size"}, -1).value_or(128), type == "uint4");
  refuse(w, {"dtype"}, "kv-plan does not know '" + type + "'");
}

const Format* format_of_method(const Keys& k, const std::string& method) {
  if (method == "fp8") return &float8(k);
  if (method == "fbgemm_fp8") return &format_named("fp8-channel");
  if (method == "mxfp4") return &format_named("mxfp4");
  if (method == "quark") return &quark(k);
  if (method == "bitsandbytes")
    return &format_named(!k.flag({"load_in_4bit", "_load_in_4bit"}) ? "int8-channel"
                         : k.flag({"bnb_4bit_use_double_quant"})    ? "nf4-double"
                                                                    : "nf4");
  if (method.starts_with("awq") || method.starts_with("gptq") || method == "auto-round" ||
      method == "intel/auto-round")
    return &integer_format(k, k.integer({"bits", "w_bit"}, 1, 64).value_or(4),
                           k.integer({"group_size", "q_group_size"}, -1).value_or(128), true);
  const std::string algorithm = k.text({"quant_algo"});
  if (!algorithm.empty()) return modelopt(k, algorithm);
  refuse(k, {"quant_method"}, "quantisation method '" + method + "' is not known to kv-plan");
}

const Format* cache_format(const Keys& k) {
  const Node* said = k.find({"kv_cache_scheme", "kv_cache_quant_algo"});
  if (!said) return nullptr;
  if (said->kind == Node::scalar) return find_format(said->text);
  if (said->kind != Node::map) return nullptr;
  const Keys scheme(*said);
  const std::int64_t bits = scheme.integer({"num_bits"}).value_or(16);
  if (bits == 4) return &format_named("nvfp4");
  return bits == 8 ? &format_named(scheme.text({"type"}) == "int" ? "int8" : "fp8") : nullptr;
}

}  // namespace

const Format& integer_format(const Keys& k, std::int64_t bits, std::int64_t group, bool zero) {
  const std::string width = "int" + std::to_string(bits);
  if (group <= 0) return known(k, {"group_size"}, width + "-channel");
  return known(k, {"group_size"}, width + "-g" + std::to_string(group) + (zero ? "-zp" : ""));
}

Scheme read_scheme(const Keys& k) {
  Scheme scheme;
  const std::string method = k.text({"quant_method"});
  const bool mixed = k.text({"quant_algo"}) == "MIXED_PRECISION";
  scheme.cache = cache_format(k);
  if (const Node* modules = k.find({"quantized_layers"})) {
    add_listed_modules(k, *modules, scheme);
    // The list is complete, unless it stands on another method (DeepSeek-V4 with NVFP4 experts).
    if (method == "fp8") scheme.rest = &float8(k);
    return scheme;
  }
  read_exceptions(k, scheme);
  scheme.head_too = k.flag({"lm_head"});  // GPTQ
  if (const auto groups = k.if_inside({"config_groups"}))
    add_groups(*groups, scheme);
  else if (mixed)
    refuse(k, {"quant_algo"}, "mixed precision without a list of the modules and their formats");
  else
    scheme.rest = format_of_method(k, method);
  add_remarks(k, scheme);
  return scheme;
}

// MLX: groups with a scale and a bias; single modules may differ, or be left alone (false).
Scheme read_mlx_scheme(const Keys& k) {
  const auto format = [](const Keys& at, std::int64_t bits, std::int64_t group) {
    const std::string mode = at.text({"mode"}, "affine");
    if (mode == "mxfp4" || mode == "nvfp4" || mode == "mxfp8") return &format_named(mode);
    return &known(at, {"bits"}, "mlx-" + std::to_string(bits) + "bit-g" + std::to_string(group));
  };
  Scheme scheme;
  const std::int64_t bits = k.count({"bits"}, 64), group = k.count_or({"group_size"}, 64);
  scheme.rest = format(k, bits, group);
  scheme.tables_too = true;
  std::map<const Format*, Scheme::Rule> by_format;
  for (const auto& [name, node] : k.node().members) {
    const Format* own = nullptr;
    if (node.kind == Node::map) {
      const Keys at(node);
      own = format(at, at.integer({"bits"}, 1, 64).value_or(bits),
                   at.count_or({"group_size"}, group));
    } else if (node.text != "false") {
      continue;
    }
    by_format[own].format = own;
    by_format[own].modules.add(name);
  }
  for (auto& [own, rule] : by_format) scheme.rules.push_back(std::move(rule));
  return scheme;
}

}  // namespace kvplan::huggingface
