// SPDX-License-Identifier: Apache-2.0
// How a checkpoint is quantised, as its configuration says: which modules have which format.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catalog/huggingface/keys.h"
#include "catalog/huggingface/module_names.h"
#include "model/format.h"

namespace kvplan::huggingface {

struct Scheme {
  struct Rule {
    ModuleNames modules;
    const Format* format = nullptr;  // null: as it was trained
  };
  ModuleNames excluded;           // left alone
  std::vector<Rule> rules;        // the first that names a module decides
  const Format* rest = nullptr;   // of all other linear layers; null: as trained
  bool tables_too = false;        // `rest` reaches the embedding and the head (MLX)
  bool head_too = false;          // `rest` reaches the head
  const Format* cache = nullptr;  // of keys and values, where the checkpoint asks for one
  std::vector<std::string> remarks;
};

// From quantization_config, hf_quant_config.json or MLX's `quantization`. Error on a method that
// kv-plan does not know, by name.
Scheme read_scheme(const Keys& quantisation);
Scheme read_mlx_scheme(const Keys& quantisation);

// "int4-g128", with "-zp" where a zero point stands beside each scale; Error naming the group size.
const Format& integer_format(const Keys&, std::int64_t bits, std::int64_t group, bool zero);
// scheme_exceptions.cpp
void read_exceptions(const Keys& quantisation, Scheme&);
void add_remarks(const Keys& quantisation, Scheme&);  // of what is not counted as it is

}  // namespace kvplan::huggingface
