// SPDX-License-Identifier: Apache-2.0
// The line that starts an engine ↔ its name, version, settings and model.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/flags.h"

namespace kvplan {

struct EngineCommand {
  EngineOptions options;  // every flag as a setting; take_common_options moves what options say too
  std::string model;      // as it stands there; empty when the line names none
  std::vector<Warning> warnings;  // flags that are not known
};
// "vllm serve MODEL …", "python -m sglang.launch_server …", "trtllm-serve MODEL …",
// "llama-server -m FILE …", "OLLAMA_NUM_PARALLEL=4 ollama serve", docker lines of their images (the
// tag is the version). Throws Error where no engine is started, and for values that a flag does not
// take.
EngineCommand parse_command(std::string_view line, const FindEngine&);

// What is to be served.
struct Serve {
  std::string model;
  std::optional<Tokens> context = {};  // of one sequence
  std::int64_t sequences = 1;
  std::string quantization = {};  // that the engine applies itself while it loads: "fp8"
};
// The line to run. Flags at their default are left out. Empty for the ideal.
std::string command_line(const EngineOptions&, const Deployment&, const Serve&);

}  // namespace kvplan
