// SPDX-License-Identifier: Apache-2.0
// kv-plan models | devices [FILTER]: the catalog with its sources.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "catalog/model_file.h"
#include "catalog/names.h"
#include "cli/answer.h"
#include "cli/choices.h"
#include "cli/loads.h"
#include "cli/local.h"
#include "cli/profiles.h"
#include "model/parameters.h"
#include "model/recipe.h"
#include "plan/expectation.h"
#include "plan/ladder.h"
#include "report/budget.h"
#include "report/device.h"
#include "report/kv.h"
#include "report/ladder.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/speed.h"

namespace kvplan {
namespace {

// Whether a name has the filter where one of its words begins: "4090" in "RTX 4090", not "m1" in
// "SXM 141GB".
bool has_at_word(std::string_view name, const std::string& filter) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || name[i - 1] == ' ' || name[i - 1] == '-' || name[i - 1] == '/';
    if (begins && normalized(name.substr(i)).starts_with(filter)) return true;
  }
  return false;
}

bool wanted(const Request& request, const CatalogEntry& entry) {
  if (!request.filter) return true;
  const std::string filter = normalized(*request.filter);
  return has_at_word(entry.name, filter) ||
         std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& alias) { return has_at_word(alias, filter); });
}

void need_rows(const Request& request, const Array& rows, const char* what) {
  if (rows.empty() && request.filter)
    throw Error(fmt::format("no {} has '{}' in its name", what, *request.filter))
        .of("FILTER")
        .advise(fmt::format("`kv-plan {}s` lists all.", what));
}

// The widest format with which the model runs usefully on the device.
std::optional<Rung> best_rung(Setup setup) {
  constexpr std::array<std::string_view, 6> kWidestFirst = {"config", "bf16",   "fp8",
                                                            "q6_k",   "q4_k_m", "q2_k"};
  const Tokens longest = setup.model.max_context.value_or(Tokens(32768)),
               usual = std::min(Tokens(8192), longest);
  for (const std::string_view& recipe : kWidestFirst) {
    const auto rungs = ladder(setup, std::span(&recipe, 1), longest, usual, usual);
    if (rungs[0].fits) return rungs[0];
  }
  return std::nullopt;
}

// One sequence of 8k tokens by llama.cpp, in a rung's format; null where no published run tells.
Value expected_by_llamacpp(Setup setup, const Rung& rung) {
  if (!setup.runs || setup.device->kind == "cpu") return {};
  const Tokens usual = std::min(Tokens(8192), setup.model.max_context.value_or(Tokens(8192)));
  setup.model = apply_recipe(setup.model, rung.recipe);
  DecodeRow row{usual, 1, true, DecodeModel(setup.model, {}, *setup.device).at(usual, 1), {}, {}};
  row.expected = expected_step(setup, {usual, 1}, row.step.seconds);
  return value(expected_of(row));
}

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

Object device_row(const DeviceSpec& device) {
  std::optional<double> price;
  if (device.price) price = device.price->usd_per_hour_low;
  Object row = object(device);
  row.emplace_back("peak_16_bit", value(device.peak_for(format_named("fp16"))));
  row.emplace_back("peak_8_bit", value(device.peak_for(format_named("fp8"))));
  row.emplace_back("usd_per_hour", value(price, Show::usd));
  row.emplace_back("bandwidth_source", value(device.bandwidth.source));
  row.emplace_back("memory_source", value(device.memory.source));
  return row;
}

}  // namespace

Answer answer_models(const Request& request, const Catalog& catalog) {
  Array rows;
  int unverified = 0;
  std::optional<DeviceSpec> device;
  if (request.on) device = device_named(catalog, catalog.counted(*request.on).name);
  const auto runs = device ? runs_of_llamacpp(catalog) : nullptr;
  for (const CatalogEntry& entry : catalog.entries("models")) {
    if (!wanted(request, entry)) continue;
    const ModelSpec model = catalog.model(entry.name);
    if (device && !generates(model)) continue;
    Object row = model_row(model);
    if (device) {
      Setup setup;
      setup.model = model;
      setup.device = device;
      setup.runs = runs;
      setup.deployment.cache = cache_formats("bf16");
      const auto rung = best_rung(setup);
      if (!rung) continue;
      row.emplace_back("recipe", value(rung->recipe));
      row.emplace_back("longest", value(rung->max_context));
      row.emplace_back("users", value(rung->max_batch));
      row.emplace_back("tokens_per_second",
                       value(rung->tokens_per_second, Show::tokens_per_second));
      row.emplace_back("expected", expected_by_llamacpp(std::move(setup), *rung));
    }
    unverified += is_unverified(model);
    rows.push_back(value(std::move(row)));
  }
  need_rows(request, rows, "model");
  Document document;
  document.command = "models";
  document.title = device ? "Models that run on " + device->title : "Models";
  document.lead = {device ? fmt::format("{} models of the catalog run on {}, each in the widest "
                                        "format that leaves room for 2k tokens.",
                                        rows.size(), device->title)
                          : fmt::format("{} models.", rows.size())};
  if (unverified > 0)
    document.lead.push_back(fmt::format(
        "Unverified (?): {}, whose shape was not checked against a published file or total.",
        unverified));
  document.body.emplace_back("models", Value{std::move(rows)});
  Table table{"models", "", {}, {}, {}};
  if (device)
    table.columns = {{"model", "name"},
                     {"parameters", "parameters"},
                     {"weights", "recipe"},
                     {"longest context", "longest"},
                     {"users at 8k", "users"},
                     {"ceiling tok/s", "tokens_per_second"},
                     {"expected tok/s", "expected.tokens_per_second", false, {}, true},
                     {"?", "unverified", false, {}, true},
                     {"", "source"}};
  if (device)
    table.notes = {
        "Tok/s of one user at 8,192 tokens: at most, and as published runs of llama.cpp let expect "
        "it."};
  else
    table.columns = {{"model", "name"},           {"parameters", "parameters"},
                     {"active", "active"},        {"attention", "attention"},
                     {"KV at 8k", "bytes_at_8k"}, {"", "bytes_per_token"},
                     {"context", "max_context"},  {"?", "unverified", false, {}, true},
                     {"", "weights_bytes"},       {"", "source"}};
  document.tables = {std::move(table)};
  return {std::move(document), 0, {}};
}

namespace {

bool is_of(const DeviceSpec& device, const std::string& filter) {
  return normalized(device.vendor) == filter || normalized(device.kind) == filter;
}

// The catalog's names that a filter means: of parts, a vendor ("amd") or a kind ("cpu"). The part
// that it names as people write it goes first.
std::vector<std::string> devices_named(const Request& request, const Catalog& catalog) {
  const auto& filter = request.filter;
  if (filter && is_local(*filter)) return {*filter};
  std::vector<std::string> names;
  if (filter && catalog.has_device(catalog.counted(*filter).name))
    names.push_back(catalog.device(catalog.counted(*filter).name).name);
  const std::string part = names.empty() ? "" : names.front();
  for (const CatalogEntry& entry : catalog.entries("devices"))
    if (entry.name != part &&
        (wanted(request, entry) || is_of(catalog.device(entry.name), normalized(*filter))))
      names.push_back(entry.name);
  if (names.empty()) catalog.device(*filter);  // throws, with the near misses
  return names;
}

}  // namespace

Answer answer_devices(const Request& request, const Catalog& catalog) {
  const std::vector<std::string> names = devices_named(request, catalog);
  if (request.for_model) return answer_choices(request, catalog, names);
  if (asks_load(request))
    throw Error("are of a model that is to be served")
        .of("--users, --context and --batch")
        .advise("Name it: --for MODEL.");
  Array rows;
  for (const std::string& name : names)
    rows.push_back(value(device_row(device_named(catalog, name))));
  Document document;
  document.command = "devices";
  document.title = "Devices";
  document.lead = {fmt::format("{} device{}. Peaks are dense and the highest that are published.",
                               rows.size(), rows.size() == 1 ? "" : "s")};
  document.body.emplace_back("devices", Value{std::move(rows)});
  document.tables = {{"devices",
                      "",
                      {{"device", "name"},
                       {"", "title"},
                       {"memory", "memory_bytes"},
                       {"bandwidth", "bandwidth_bytes_per_second"},
                       {"measured", "bandwidth_measured_bytes_per_second"},
                       {"16 bit", "peak_16_bit"},
                       {"8 bit", "peak_8_bit"},
                       {"cache", "last_level_cache_bytes"},
                       {"$/h", "usd_per_hour"},
                       {"", "bandwidth_source"},
                       {"", "memory_source"}},
                      {},
                      {}}};
  return {std::move(document), 0, {}};
}

}  // namespace kvplan
