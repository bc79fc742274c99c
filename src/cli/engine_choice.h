// SPDX-License-Identifier: Apache-2.0
// The engine of a question, and what its own flags say in kv-plan's words.
#pragma once
#include "cli/resolve.h"

namespace kvplan {

// --engine or --engine-command with --set and their like; `default_engine` where none was asked
// for. Throws Error where something was said twice and differently.
void choose_engine(const Request&, Resolved&, const Catalog&, std::string_view default_engine);

// What plans a model where none was asked for: GGUF, processors and GPUs that vLLM does not run on
// are for the llama.cpp family, tags of Ollama for itself; anything else for vLLM.
std::string_view usual_engine(const Request&, const Catalog&);

// The request with what the engine's flags say put where the option would have put it. Saying both
// differently is an error that names both.
Request with_engine_flags(Request, Resolved&);

// Notes defaults of the engine that decide what it reserves, each with its source.
void note_engine_defaults(Resolved&);

}  // namespace kvplan
