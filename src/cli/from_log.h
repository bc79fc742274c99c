// SPDX-License-Identifier: Apache-2.0
// From a start-up log to a question: what the log says stands where no option says it.
#pragma once
#include <optional>
#include <string>

#include "cli/resolve.h"
#include "engine/start_log.h"

namespace kvplan {

// The same request with engine, version, flags, parallelism and utilisation of the log. Options
// win; where they say something else, `warnings` say so.
Request with_log(Request, const StartLog&, const Catalog&, std::vector<Warning>& warnings);

// The model that the request or the log names, or the one whose metadata the log lists. Throws
// Error that says what to give where there is none.
ModelSpec model_for(const Request&, const StartLog&, const Catalog&, std::vector<Warning>&);

// The device that the log names, where the catalog has it; empty where it does not.
std::string device_in(const StartLog&, const Catalog&);

// "/models/models--meta-llama--Llama-3.1-8B/snapshots/0e9e" → "meta-llama/Llama-3.1-8B", then what
// a catalog may know it by, the nearest first.
std::vector<std::string> names_for(std::string_view model);

}  // namespace kvplan
