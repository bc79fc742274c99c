// SPDX-License-Identifier: Apache-2.0
// A configuration nested in another one is written without the keys that equal its class' defaults.
#pragma once
#include <span>
#include <string_view>

namespace kvplan::huggingface {

// What the class of this model_type takes for absent keys, as YAML; empty where it is not known.
// Text models and towers alike.
std::string_view class_defaults(std::string_view model_type);

struct ClassDefaults {
  std::string_view types;  // model_type values, separated by blanks
  std::string_view keys;   // as YAML
};
std::span<const ClassDefaults> text_class_defaults();  // class_defaults_text.cpp

}  // namespace kvplan::huggingface
