// SPDX-License-Identifier: Apache-2.0
// kv-plan plan MODEL DEVICE: does it fit, how much fits, how fast, how many GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/answer.h"
#include "cli/engine_choice.h"
#include "cli/lengths.h"
#include "cli/lengths_part.h"
#include "cli/loads.h"
#include "cli/plan_command.h"
#include "cli/plan_parts.h"
#include "cli/profiles.h"
#include "cli/serving_part.h"
#include "report/layouts.h"
#include "report/notes.h"

namespace kvplan {
namespace {

// A trace without a length stands for its running requests.
std::optional<Load> asked_load(const Request& request, Resolved& r,
                               const std::optional<LengthAnswer>& lengths) {
  if (!asks_load(request)) return std::nullopt;
  Request asked = request;
  if (lengths && !request.context && !request.input && !request.output) {
    const Tokens running = lengths->summary.running;
    asked.context = {AskedLength{running}};
    r.assumptions.push_back({"--context", std::to_string(running.n), Basis::exact,
                             "mean of the requests while they run"});
  }
  const auto all = loads(asked, r, fmt::format("{}", std::min(kUsersContext, r.longest()).n), "1");
  if (all.size() > 1 && request.command == Command::plan)
    throw Error("a plan is made for one load, not for a list")
        .of("--context and --batch")
        .advise("Give one number without commas; `kv-plan decode` and `sweep` take lists.");
  return all.front();
}

// The rates worth knowing: one user and as many as fit at the usual length, one user at full
// length.
std::vector<Load> rate_loads(const Resolved& r, const Sizing& f, const std::optional<Load>& asked) {
  if (asked) return {*asked};
  const Tokens usual = std::min(kUsersContext, r.longest());
  std::vector<Load> all{{usual, 1}};
  if (f.max_batch && *f.max_batch > 1) all.push_back({usual, *f.max_batch});
  if (f.max_context && *f.max_context > usual) all.push_back({*f.max_context, 1});
  return all;
}

bool fast_enough(const Request& request, const DecodeAnswer& decode) {
  const DecodeRow& row = decode.rows.front();
  if (!row.step.seconds) return true;
  const double total = tokens_per_second(row.batch, *row.step.seconds);
  return total >= request.min_tps_total.value_or(0) &&
         total / static_cast<double>(row.batch) >= request.min_tps_per_user.value_or(0);
}

// Without a load: one user at the usual length, or at the least useful one where only that fits.
Need need_of(const Request& request, const Resolved& r, const PlanFacts& f) {
  Need need{{}, request.min_tps_per_user, request.min_tps_total, !f.asked};
  const Tokens usual = std::min(kUsersContext, r.longest());
  const bool short_only = f.sizing.fits && f.sizing.max_context && *f.sizing.max_context < usual;
  need.load = f.asked.value_or(Load{short_only ? *f.sizing.max_context : usual, 1});
  return need;
}

// As --input and --output say, else as a trace has them on average.
std::vector<Requests> requests_of(const Request& request, const PlanFacts& f) {
  if (!f.asked) return {};
  if (!f.lengths) return asked_requests(request, std::span(&*f.asked, 1));
  const LengthSummary& s = f.lengths->summary;
  const auto whole = [](double mean) { return Tokens(std::max(1LL, std::llround(mean))); };
  if (s.mean_input < 1 || s.mean_output < 1) return {};
  return {{whole(s.mean_input), whole(s.mean_output), f.asked->batch}};
}

PlanFacts facts_of(const Request& request, Resolved& r, Trace* trace) {
  PlanFacts f;
  if (request.lengths) {
    f.requests = request_lengths(*request.lengths);
    f.lengths = length_answer(r.setup, f.requests);
  }
  f.asked = asked_load(request, r, f.lengths);
  const Tokens usual = std::min(kUsersContext, r.longest());
  f.sizing = sizing(r.setup, f.asked, usual, r.longest());
  choose_length(r, f);
  f.sizing = sizing(r.setup, f.asked, usual, r.longest());
  f.rates = decode_answer(r.setup, rate_loads(r, f.sizing, f.asked), trace);
  f.fast_enough = fast_enough(request, f.rates);
  f.need = need_of(request, r, f);
  if (r.setup.engine.kv_pool) return f;
  f.layouts = search_layouts(r.setup, f.need, r.setup.deployment.parallel.gpus());
  f.ladder = weight_formats(r, f);
  return f;
}

}  // namespace

Answer answer_plan(const Request& request, const Catalog& catalog) {
  Resolved r = resolve(request, catalog, request.model, request.device.value_or(""),
                       usual_engine(request, catalog));
  choose_profile(request, catalog, r);
  Trace trace;
  const PlanFacts f = facts_of(request, r, request.explain ? &trace : nullptr);
  Document document = start(r, "plan");
  document.lead = {lead_of(r, f)};
  add_budget(document, r, f);
  add_rates(document, r, f);
  add_serving(document, r, requests_of(request, f));
  const auto& best = f.layouts.best;
  Object plan{{"fits", value(f.yes())},
              {"gpus_needed", best ? value(best->layout.gpus()) : Value{}},
              {"max_context", value(f.sizing.max_context)},
              {"max_batch", value(f.sizing.max_batch)},
              {"max_batch_context", value(f.need.load.context)}};
  if (f.asked) {
    plan.emplace_back("limits", value(limits(request, r, *f.asked)));
    document.tables.push_back(table<Limit>("plan.limits", "How far this load could go here"));
  }
  if (f.lengths) add_lengths(document, plan, "plan", *f.lengths);
  if (!r.setup.engine.kv_pool) {
    add_layouts(document, plan, f);
    add_traffic(document, plan, r, f);
    add_ladder(document, plan, r, f);
    add_levers(document, plan, r, f);
  }
  if (request.explain) add_explanation(document, trace);
  add_command(document, plan, r, f);
  document.body.emplace_back("plan", Value{std::move(plan)});
  if (const auto text = default_length_note(r, f)) document.closing.push_back(*text);
  if (!r.setup.model.vision.empty())
    document.closing.push_back(
        "Images and audio: the encoder's weights are counted, their tokens only as part of the "
        "context (or as --source-tokens of cross-attention); what encoding needs beside that is "
        "not "
        "modelled.");
  finish(document, r);
  return {std::move(document), f.yes() ? 0 : 1, r.warnings};
}

}  // namespace kvplan
