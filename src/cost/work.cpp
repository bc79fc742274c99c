// SPDX-License-Identifier: Apache-2.0
#include "cost/work.h"

#include <array>

namespace kvplan {
namespace {

struct Name {
  OperatorClass op;
  std::string_view name;
};
constexpr std::array kNames = {Name{OperatorClass::weight_stream, "weight_stream"},
                               Name{OperatorClass::gemm, "gemm"},
                               Name{OperatorClass::decode_attention, "decode_attention"},
                               Name{OperatorClass::prefill_attention, "prefill_attention"},
                               Name{OperatorClass::latent_decode, "latent_decode"},
                               Name{OperatorClass::moe, "moe"},
                               Name{OperatorClass::state_step, "state_step"},
                               Name{OperatorClass::state_scan, "state_scan"},
                               Name{OperatorClass::sparse_step, "sparse_step"},
                               Name{OperatorClass::sparse_scan, "sparse_scan"},
                               Name{OperatorClass::collective, "collective"},
                               Name{OperatorClass::stream_read, "stream_read"},
                               Name{OperatorClass::stream_copy, "stream_copy"}};

}  // namespace

std::string_view name_of(OperatorClass op) {
  for (const Name& n : kNames)
    if (n.op == op) return n.name;
  return "";
}

std::optional<OperatorClass> operator_class_named(std::string_view name) {
  for (const Name& n : kNames)
    if (n.name == name) return n.op;
  return std::nullopt;
}

}  // namespace kvplan
