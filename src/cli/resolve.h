// SPDX-License-Identifier: Apache-2.0
// From what was typed to a question with every name resolved: reads the catalog, applies defaults,
// and notes each of them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cli/request.h"
#include "plan/setup.h"

namespace kvplan {

struct Resolved {
  Setup setup;        // weight recipe applied
  ModelSpec as_read;  // before any recipe
  std::vector<Assumption> assumptions;
  std::vector<Warning> warnings;
};

// `default_engine`: what `auto` means for this command ("ideal", or for plan the engine that suits
// the model). `device` may be empty where the command can do without one.
Resolved resolve(const Request&, const Catalog&, std::string_view model, std::string_view device,
                 std::string_view default_engine);

// Longest context of the model, or `otherwise` with an assumption noted.
Tokens model_limit(const ModelSpec&, std::vector<Assumption>&, Tokens otherwise = Tokens(32768));

// context x batch, in the order typed; contexts outermost.
std::vector<Load> grid(const std::vector<Tokens>& contexts,
                       const std::vector<std::int64_t>& batches);

}  // namespace kvplan
