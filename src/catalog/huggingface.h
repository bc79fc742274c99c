// SPDX-License-Identifier: Apache-2.0
// config.json (or a catalog entry's `config:`) → ModelSpec.
#pragma once
#include <string>

#include "catalog/node.h"
#include "model/spec.h"

namespace kvplan {

// `quantization` is hf_quant_config.json beside the config, or null. Formats of the checkpoint are
// set on the weights. Throws Error naming the key: unsupported model_type or key that bears on
// memory, contradictory or absurd values.
ModelSpec read_huggingface(const Node& config, const Node* quantization = nullptr);

// The configuration without the keys that are known to bear on neither memory nor speed: it reads
// to the same model.
Node keys_that_count(const Node& config, const Node* quantization = nullptr);

}  // namespace kvplan
