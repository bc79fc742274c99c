// SPDX-License-Identifier: Apache-2.0
// What lines look like and what they say: one table an engine family, in a file of its own.
#pragma once
#include <span>
#include <string_view>

#include "engine/start_log.h"
#include "logs/pattern.h"

namespace kvplan::logs {

struct Found {
  std::string_view line;
  std::int64_t number = 0;
  Captures captures;

  std::string_view operator[](std::size_t i) const { return captures.at[i]; }
};

struct Row {
  std::string_view pattern;
  void (*note)(StartLog&, const Found&);
};

// Lines of this form were first printed by this version; for logs that name none.
struct Form {
  std::string_view text, since;
};

std::span<const Row> vllm_rows();
std::span<const Row> sglang_rows();
std::span<const Row> trtllm_rows();
std::span<const Row> llamacpp_rows();
std::span<const Row> ollama_rows();
std::span<const Row> common_rows();  // of the driver and the framework, whatever the engine

std::span<const Form> vllm_forms();
std::span<const Form> llamacpp_forms();

}  // namespace kvplan::logs
