// SPDX-License-Identifier: Apache-2.0
// Questions about one machine of several parts: --host, "rtx-4090+2xrtx-3090", -ngl and its kin.
#pragma once
#include "cli/answer.h"

namespace kvplan {

// The commands that may be asked so.
bool takes_parts(Command);
// Whether a request is about parts rather than about equal GPUs that share a model.
bool is_on_parts(const Request&, const Catalog&);
// plan, decode, prefill, kv and report on such a machine.
Answer answer_on_parts(const Request&, const Catalog&);

}  // namespace kvplan
