// SPDX-License-Identifier: Apache-2.0
// The work of an operator: the one place where bytes and flops are counted, for the planner's
// prediction and for the benchmark's GB/s alike.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/format.h"
#include "units.h"

namespace kvplan {

enum class OperatorClass {
  weight_stream,
  gemm,
  decode_attention,
  prefill_attention,
  latent_decode,
  moe,
  state_step,
  state_scan,
  sparse_step,
  sparse_scan,
  collective,
  stream_read,
  stream_copy
};

// "decode_attention"; empty for a name that is none.
std::string_view name_of(OperatorClass);
std::optional<OperatorClass> operator_class_named(std::string_view);

struct Work {
  Bytes distinct;  // each byte once: what a ceiling may count
  Bytes moved;     // each byte as often as a plain implementation reads or writes it
  Flops flops;
  Precision precision = Precision::bf16;
  OperatorClass op = OperatorClass::gemm;
};

}  // namespace kvplan
