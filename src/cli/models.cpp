// SPDX-License-Identifier: Apache-2.0
// kv-plan models [FILTER] [--on DEVICE]: the catalog's models with their sources.
#include <fmt/format.h>

#include <algorithm>

#include "catalog/model_file.h"
#include "cli/answer.h"
#include "cli/listing.h"
#include "cli/models_on.h"
#include "model/parameters.h"
#include "model/recipe.h"
#include "report/budget.h"
#include "report/kv.h"
#include "report/model.h"
#include "report/notes.h"

namespace kvplan {
namespace {

// Of one sequence of 8k tokens, or as long as the model goes.
Bytes cache_at_8k(const ModelSpec& model, const std::vector<CacheGroup>& groups) {
  Bytes sum;
  for (const CacheGroup& group : groups)
    sum += stored_bytes(group, std::min(Tokens(8192), model.max_context.value_or(Tokens(8192))));
  return sum;
}

bool is_unverified(const ModelSpec& model) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [](const Warning& w) { return w.code == kUnverifiedModel; });
}

Object model_row(const ModelSpec& model) {
  const ModelSpec plain = apply_recipe(model, "config");
  const Parameters p = count_parameters(plain);
  const auto groups = cache_groups(model, cache_formats("bf16"));
  return {{"name", value(model.name)},
          {"parameters", value(p.total)},
          {"active", value(p.active)},
          {"attention", value(attention_of(model))},
          {"bytes_per_token", value(growth_per_token(groups), Show::bytes)},
          {"bytes_at_8k", value(cache_at_8k(model, groups))},
          {"max_context", value(model.max_context)},
          {"weights_bytes", value(resident_weights(plain))},
          {"source", value(model.source)},
          {"unverified", is_unverified(model) ? value(true) : Value{}}};
}

Table table_of_shapes() {
  Table table{"models", "", {}, {}, {}};
  table.columns = {{"model", "name"},           {"parameters", "parameters"},
                   {"active", "active"},        {"attention", "attention"},
                   {"KV at 8k", "bytes_at_8k"}, {"", "bytes_per_token"},
                   {"context", "max_context"},  {"?", "unverified", false, {}, true},
                   {"", "weights_bytes"},       {"", "source"}};
  return table;
}

void refuse_load_without_device(const Request& request) {
  if (request.on || (!request.context && !request.weights && !request.kv)) return;
  throw Error("are of models on a device")
      .of("--context, --weights and --kv")
      .advise("Name it: --on DEVICE. For one model, `kv-plan kv MODEL` has its cache.");
}

}  // namespace

Answer answer_models(const Request& request, const Catalog& catalog) {
  refuse_load_without_device(request);
  std::optional<ModelsOn> on;
  if (request.on) on.emplace(request, catalog);
  Array rows;
  std::size_t named = 0;
  int unverified = 0;
  for (const CatalogEntry& entry : catalog.entries("models")) {
    if (!wanted(request, entry)) continue;
    ++named;
    const ModelSpec model = catalog.model(entry.name);
    const auto there = on ? on->columns(model) : std::nullopt;
    if (on && !there) continue;
    Object row = model_row(model);
    if (there) row.insert(row.end(), there->begin(), there->end());
    unverified += is_unverified(model);
    rows.push_back(value(std::move(row)));
  }
  need_named(request, named, "model");
  Document document;
  document.command = "models";
  document.title = on ? "Models that run on " + on->device().title : "Models";
  document.lead = {on ? on->lead(rows.size(), named) : fmt::format("{} models.", rows.size())};
  if (unverified > 0)
    document.lead.push_back(fmt::format(
        "Unverified (?): {}, whose shape was not checked against a published file or total.",
        unverified));
  const int status = rows.empty() ? 1 : 0;
  if (!rows.empty()) document.tables = {on ? on->table() : table_of_shapes()};
  document.body.emplace_back("models", Value{std::move(rows)});
  return {std::move(document), status, {}};
}

}  // namespace kvplan
