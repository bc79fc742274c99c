// SPDX-License-Identifier: Apache-2.0
// From what was typed to a question with every name resolved: reads the catalog, applies defaults,
// notes each of them.
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
  Setup setup;         // weight recipe applied
  ModelSpec as_read;   // before any recipe
  std::string served;  // what an engine is told to serve: a path, an id, a file of its family
  std::vector<Assumption> assumptions;
  std::vector<Warning> warnings;

  // Longest context that the model was made for; 32,768 with a remark where it does not say.
  Tokens longest() const { return setup.model.max_context.value_or(Tokens(32768)); }
};

// A model as it was typed, read.
struct NamedModel {
  std::string typed;
  ModelSpec as_read;
};
NamedModel named_model(const Catalog&, std::string_view typed);

// `default_engine` is what stands where none was asked for. `device` may be empty.
Resolved resolve(const Request&, const Catalog&, std::string_view model, std::string_view device,
                 std::string_view default_engine);
Resolved resolve(const Request&, const Catalog&, const NamedModel&, std::string_view device,
                 std::string_view default_engine);

// Likewise, of a model that has no name, in the formats that it was read in.
Resolved resolve(const Request&, const Catalog&, ModelSpec, std::string_view device,
                 std::string_view default_engine);

// A default or a choice that the answer rests on.
void note(Resolved&, std::string what, std::string value, Basis, std::string source);

}  // namespace kvplan
