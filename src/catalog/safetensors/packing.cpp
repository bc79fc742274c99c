// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/packing.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "catalog/safetensors/schemes.h"

namespace kvplan::safetensors {
namespace {

struct Suffix {
  std::string_view text;
  Part part;
};
// Longer ones first where one ends with another.
constexpr Suffix kSuffixes[] = {
    {".weight_packed", Part::payload},       // compressed-tensors
    {".weight_scale_inv", Part::scale},      // DeepSeek's fp8
    {".weight_scale_2", Part::global},       // ModelOpt's NVFP4
    {".weight_global_scale", Part::global},  // compressed-tensors' NVFP4
    {".weight_zero_point", Part::zero},
    {".weight_scale", Part::scale},
    {".weight_shape", Part::other},
    {".weight_g_idx", Part::other},
    {".input_global_scale", Part::other},
    {".input_scale_ub", Part::other},   // FBGEMM's fp8
    {".pre_quant_scale", Part::other},  // ModelOpt's AWQ
    {".input_scale", Part::other},
    {".output_scale", Part::other},
    {".input_zero_point", Part::other},
    {".k_scale", Part::other},
    {".v_scale", Part::other},
    {".q_scale", Part::other},
    {".weight.absmax", Part::scale},  // bitsandbytes
    {".weight.nested_absmax", Part::other},
    {".weight.nested_quant_map", Part::other},
    {".weight.quant_map", Part::other},
    {".weight.quant_state.bitsandbytes__nf4", Part::other},
    {".weight.quant_state.bitsandbytes__fp4", Part::other},
    {".weight.SCB", Part::scale},
    {".qweight", Part::payload},  // AWQ, GPTQ
    {".qzeros", Part::zero},
    {".scales", Part::scale},
    {".g_idx", Part::other},
    {".biases", Part::zero},     // MLX
    {".scale", Part::scale},     // DeepSeek-V4
    {"_blocks", Part::payload},  // gpt-oss
    {"_scales", Part::scale},
    {"_scale_inv", Part::scale},
    {"_weight_scale_2", Part::global},
    {"_weight_scale", Part::scale},
    {"_input_scale", Part::other},
    {".weight", Part::payload},
};

struct Name {
  std::string_view module;
  Part part = Part::payload;
};

Name split(std::string_view name) {
  for (const Suffix& s : kSuffixes)
    if (name.ends_with(s.text) && name.size() > s.text.size())
      return {name.substr(0, name.size() - s.text.size()), s.part};
  return {name, Part::payload};
}

std::string_view without_bias(std::string_view name) {
  return name.ends_with(".bias") ? name.substr(0, name.size() - 5) : name;
}

class Unpacker {
 public:
  Unpacker(std::vector<StoredTensor> stored, const PackHints& hints)
      : stored_(std::move(stored)), hints_(hints) {}

  std::vector<Tensor> run() {
    names_.reserve(stored_.size());
    for (const StoredTensor& s : stored_) names_.push_back(split(s.name));
    find_parts();
    out_.reserve(stored_.size());
    for (std::size_t i = 0; i < stored_.size(); ++i) out_.push_back(plain(stored_[i], names_[i]));
    for (const auto& [module, parts] : parts_)
      if (parts.payload) settle(parts);
    return std::move(out_);
  }

 private:
  struct Parts {
    std::optional<std::size_t> payload, scale, global, zero;
  };

  void find_parts() {
    for (std::size_t i = 0; i < stored_.size(); ++i)
      if (names_[i].part != Part::payload) add(parts_[names_[i].module], names_[i].part, i);
    // A matrix of which no other part is stored is what it looks like.
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      if (names_[i].part != Part::payload) continue;
      if (const auto found = parts_.find(names_[i].module); found != parts_.end())
        found->second.payload = i;
    }
  }

  static void add(Parts& parts, Part part, std::size_t i) {
    if (part == Part::other) return;
    auto& place = part == Part::scale    ? parts.scale
                  : part == Part::global ? parts.global
                                         : parts.zero;
    if (!place) place = i;
  }

  Tensor plain(const StoredTensor& s, const Name& name) {
    Tensor t;
    t.name = s.name;
    t.shape = s.shape;
    t.format = find_format(s.dtype->format);
    t.stored_elements = t.parameters = s.elements;
    t.bytes = s.bytes;
    // A scale of no matrix is a weight of its own name (Gemma 4's router).
    const bool whole =
        name.part != Part::payload && name.part != Part::other && !owner(name.module);
    t.place = places_.of(whole ? std::string_view(s.name) : without_bias(name.module));
    if (name.part == Part::other || (t.place.role && t.place.role->is_auxiliary)) t.parameters = 0;
    return t;
  }

  bool owner(std::string_view module) const {
    const auto found = parts_.find(module);
    return found != parts_.end() && found->second.payload;
  }

  void settle(const Parts& parts) {
    Tensor& matrix = out_[*parts.payload];
    const auto stored = [&](const std::optional<std::size_t>& i) {
      return i ? &stored_[*i] : nullptr;
    };
    const Scheme scheme =
        scheme_of({stored(parts.payload), stored(parts.scale), stored(parts.global),
                   stored(parts.zero), matrix.name.ends_with(".qweight")},
                  hints_);
    matrix.shape = scheme.shape;
    matrix.format = scheme.format;
    matrix.parameters = 1;
    for (const std::int64_t n : scheme.shape) matrix.parameters = checked_mul(matrix.parameters, n);
    for (const auto& part : {parts.scale, parts.global, parts.zero})
      if (part) {
        out_[*part].parameters = 0;
        out_[*part].in_format = scheme.accounts_for_all;
      }
  }

  std::vector<StoredTensor> stored_;
  std::vector<Name> names_;  // of stored_
  PackHints hints_;
  TensorPlaces places_;
  std::unordered_map<std::string_view, Parts> parts_;  // by module, of stored_'s names
  std::vector<Tensor> out_;
};

}  // namespace

std::vector<Tensor> unpack(std::vector<StoredTensor> stored, const PackHints& hints) {
  return Unpacker(std::move(stored), hints).run();
}

}  // namespace kvplan::safetensors
