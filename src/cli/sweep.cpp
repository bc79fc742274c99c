// SPDX-License-Identifier: Apache-2.0
// kv-plan sweep MODEL… DEVICE…: decode rows for every pair, made for csv and json.
#include <fmt/format.h>

#include "catalog/names.h"
#include "cli/answer.h"
#include "cli/loads.h"
#include "cli/local.h"
#include "cli/profiles.h"
#include "plan/speed.h"
#include "report/kv.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/speed.h"

namespace kvplan {
namespace {

struct Grid {
  std::vector<std::string> models, devices;
};

// A word that names a device is one; any other is a model.
Grid sorted_by_kind(const Request& request, const Catalog& catalog) {
  Grid grid;
  for (const std::string& name : request.names) {
    const bool device = !name.ends_with(".yaml") &&
                        (is_local(name) || catalog.has_device(catalog.counted(name).name));
    (device ? grid.devices : grid.models).push_back(name);
  }
  if (grid.models.empty())
    throw Error("no model among the names")
        .of("MODEL")
        .advise("Name at least one model and one device.");
  if (grid.devices.empty())
    throw Error("no device among the names")
        .of("DEVICE")
        .advise("Name at least one model and one device; `kv-plan devices` lists them.");
  return grid;
}

void add_pair(const Request& request, const Catalog& catalog, const std::string& model,
              const std::string& device, Array& rows, std::vector<Warning>& warnings) {
  Resolved r = resolve(request, catalog, model, device, "ideal");
  choose_profile(request, catalog, r);
  const auto asked = loads(request, r, "4k,32k", "1,8,32,128");
  for (const DecodeRow& row : decode_answer(r.setup, asked).rows) {
    Object full{{"model", value(r.setup.model.name)},
                {"device", value(r.setup.device->name)},
                {"gpus", value(r.setup.deployment.parallel.gpus())}};
    for (auto& member : object(row)) full.push_back(std::move(member));
    rows.push_back(value(std::move(full)));
  }
  warnings.insert(warnings.end(), r.warnings.begin(), r.warnings.end());
}

// One pair that does not divide, or an encoder, costs no grid; a wrong name does.
bool costs_its_pair(const Error& e) {
  for (const char* option : {"MODEL", "--gpus", "--tp", "--pp", "--dp", "--ep", "--dcp"})
    if (e.key == option) return true;
  return false;
}

}  // namespace

Answer answer_sweep(const Request& request, const Catalog& catalog) {
  const Grid grid = sorted_by_kind(request, catalog);
  Array rows;
  std::vector<Warning> warnings;
  std::optional<Error> first;
  for (const std::string& model : grid.models)
    for (const std::string& device : grid.devices) try {
        add_pair(request, catalog, model, device, rows, warnings);
      } catch (const Error& e) {
        if (!costs_its_pair(e)) throw;
        if (!first) first = e;
        warnings.push_back(
            {"left-out", fmt::format("{} on {} is left out: {}", model, device, e.what())});
      }
  if (rows.empty() && first) throw *first;
  Document document;
  document.command = "sweep";
  document.title = "Sweep";
  document.lead = {fmt::format("{} rows: {} models on {} devices.", rows.size(), grid.models.size(),
                               grid.devices.size())};
  document.body.emplace_back("sweep", Value{Object{{"rows", Value{std::move(rows)}}}});
  Table rates = table<DecodeRow>("decode.rows", "Decode");
  rates.part = "sweep.rows";
  rates.title = "";
  rates.columns.insert(rates.columns.begin(),
                       {{"model", "model"}, {"device", "device"}, {"GPUs", "gpus", false}});
  document.tables = {std::move(rates)};
  document.body.emplace_back("warnings", value(warnings));
  return {std::move(document), 0, std::move(warnings)};
}

}  // namespace kvplan
