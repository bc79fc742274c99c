// SPDX-License-Identifier: Apache-2.0
// A file of configs/engines: the flags of one engine, with their defaults and where they are from.
#pragma once
#include "catalog/node.h"
#include "engine/flags.h"

namespace kvplan {

// `known` with what the file adds or says otherwise: a user's file need not repeat the rest. Throws
// Error (with line) for keys, kinds, values and versions that it does not know, and for defaults
// without a source.
EngineFlags read_engine(const Node& file, EngineFlags known = {});

}  // namespace kvplan
