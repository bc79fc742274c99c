// SPDX-License-Identifier: Apache-2.0
// Slots for LoRA adapters, which vLLM allocates with the model, used or not.
#pragma once
#include "engine/vllm/pages.h"

namespace kvplan::vllm {

// Of one rank, the fullest pipeline stage. Beside every matrix each slot has A (rank x inputs) and
// B (outputs x rank); at most also beside the token table and the head, for models that let
// adapters change these.
BudgetLine adapter_line(const Served&);

}  // namespace kvplan::vllm
