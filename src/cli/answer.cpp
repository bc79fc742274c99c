// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.h"

#include <fmt/format.h>

#include "report/breakdown.h"
#include "report/budget.h"
#include "report/device.h"
#include "report/kernels.h"
#include "report/kv.h"
#include "report/ladder.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/speed.h"

namespace kvplan {

std::string subject(const Resolved& r) {
  const std::string model = r.setup.model.name;
  if (!r.setup.device) return model;
  const std::int64_t gpus = r.setup.deployment.parallel.gpus();
  return fmt::format("{} on {}{}", model, gpus > 1 ? fmt::format("{} x ", gpus) : "",
                     r.setup.device->title);
}

Document start(const Resolved& r, std::string_view command) {
  Document document;
  document.command = std::string(command);
  document.title = subject(r);
  document.body.emplace_back("model", value(model_object(r.setup.model)));
  document.body.emplace_back("device", r.setup.device ? value(*r.setup.device) : Value{});
  document.body.emplace_back("deployment", value(deployment_object(r.setup)));
  return document;
}

void add_explanation(Document& document, const Trace& trace) {
  document.body.emplace_back("explain", value(trace.terms));
  document.tables.push_back(table<Trace::Term>("explain", "How the first row comes about"));
}

void add_breakdown(Document& document, const std::vector<Portion>& portions, std::string title) {
  document.body.emplace_back("breakdown", value(portions));
  Table parts = table<Portion>("breakdown", std::move(title));
  parts.notes = {
      "Arithmetic binds an operator whose flops per byte lie above the ridge of the device."};
  document.tables.push_back(std::move(parts));
}

void add_kernels(Document& document, const Resolved& r, const Launches& launches,
                 std::string title) {
  if (!r.setup.profile) return;
  document.body.emplace_back("kernels", value(kernel_times(launches, *r.setup.profile)));
  document.tables.push_back(table<KernelTime>("kernels", std::move(title)));
}

void finish(Document& document, const Resolved& r) {
  document.body.emplace_back("assumptions", value(r.assumptions));
  document.body.emplace_back("warnings", value(r.warnings));
  std::string assumed;
  for (const Assumption& a : r.assumptions)
    assumed += fmt::format("{}{} {} ({})", assumed.empty() ? "Assumed: " : "; ", a.what, a.value,
                           a.source);
  if (!assumed.empty()) document.closing.push_back(assumed + ".");
}

}  // namespace kvplan
