// SPDX-License-Identifier: Apache-2.0
// kv-plan plan MODEL DEVICE: does it fit, how much fits, how fast, how many GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/answer.h"
#include "cli/lengths.h"
#include "cli/lengths_part.h"
#include "cli/loads.h"
#include "cli/plan_command.h"
#include "cli/profiles.h"
#include "cli/serving_part.h"
#include "engine/flags.h"
#include "plan/ladder.h"
#include "plan/levers.h"
#include "plan/room.h"
#include "plan/solve.h"
#include "report/budget.h"
#include "report/device.h"
#include "report/kv.h"
#include "report/ladder.h"
#include "report/layouts.h"
#include "report/levers.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/replication.h"
#include "report/speed.h"

namespace kvplan {
namespace {

// File types of the llama.cpp family are run by it; anything else by vLLM.
std::string_view usual_engine(const Request& request) {
  const auto is_gguf = [](std::string_view name) {
    return name.ends_with(".gguf") || name.starts_with("q2_") || name.starts_with("q3_") ||
           name.starts_with("q4_") || name.starts_with("q5_") || name.starts_with("q6_") ||
           name.starts_with("q8_") || name.starts_with("iq") || name == "mxfp4_moe";
  };
  return is_gguf(request.model) || is_gguf(request.weights.value_or("")) ? "llama.cpp" : "vllm";
}

// A trace without a length stands for its running requests.
std::optional<Load> asked_load(const Request& request, Resolved& r,
                               const std::optional<LengthAnswer>& lengths) {
  if (!request.context && !request.users && !request.batch && !request.input && !request.output)
    return std::nullopt;
  Request asked = request;
  if (lengths && !request.context && !request.input && !request.output) {
    const Tokens running = lengths->summary.running;
    asked.context = {AskedLength{running}};
    r.assumptions.push_back({"--context", std::to_string(running.n), Basis::exact,
                             "mean of the requests while they run"});
  }
  return loads(asked, r, fmt::format("{}", std::min(kUsersContext, r.longest()).n), "1").front();
}

std::vector<std::string_view> ladder_recipes(const Setup& setup) {
  const bool llama_cpp = setup.engine.name == "llama.cpp" || setup.engine.name == "ollama";
  if (llama_cpp) return {"fp16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "q2_k"};
  return {"config", "bf16", "fp8", "int4-g128"};
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

// ---- parts of the answer

std::vector<Limit> limits(const Request& request, const Resolved& r, const Load& load) {
  std::vector<Limit> found;
  const Setup& setup = r.setup;
  const Room room(setup);
  const std::string context = shown(value(load.context)), batch = std::to_string(load.batch);
  const auto add = [&](std::string name, std::string value, std::string meaning) {
    found.push_back({std::move(name), std::move(value), std::move(meaning)});
  };
  if (const auto n = room.largest_batch(load.context))
    add("--users", std::to_string(*n), "most sequences of " + context + " tokens that fit");
  if (const auto n = room.largest_context(load.batch, r.longest()))
    add("--context", std::to_string(n->n),
        load.batch > 1 ? "longest that " + batch + " sequences can each reach"
                       : "longest that one sequence can reach");
  if (request.min_tps_per_user) {
    const std::string rate = shown(*request.min_tps_per_user, Show::tokens_per_second);
    const auto n = most_users_at(setup, load.context, *request.min_tps_per_user);
    add("--users at " + rate + " tok/s each", n ? std::to_string(*n) : "none",
        "most that fit and could still get it at the ceiling");
  }
  if (setup.engine.kv_pool) return found;
  const auto share = least_utilization(setup, load);
  for (const EngineFlag& flag : flags_of(setup.engine).flags)
    if (share && flag.option == "--utilization")
      add(flag.name, fmt::format("{:.2f}", *share), "least that holds the load");
  const std::string_view flag = sequences_flag(setup.engine.name);
  if (const auto n = most_sequences(setup, load.context); n && setup.engine.name != "ollama")
    add(std::string(flag), std::to_string(*n),
        "most sequences of " + context + " tokens when the engine is told to take no more");
  return found;
}

void add_budget(Document& document, const Resolved& r, const PlanFacts& f) {
  if (f.sizing.budget) {
    document.body.emplace_back("budget", value(*f.sizing.budget));
    document.tables.push_back(table<NamedLine>(
        "budget.lines", fmt::format("Memory of one GPU, as {} divides it", r.setup.engine.name)));
  }
  document.body.emplace_back("capacity", value(f.sizing.capacity));
}

void add_rates(Document& document, Resolved& r, const PlanFacts& f) {
  document.body.emplace_back("decode", value(f.rates));
  document.tables.push_back(table<DecodeRow>("decode.rows", "Decode"));
  document.tables.back().notes = {
      "A ceiling is what no correct engine can beat on this device; served throughput lies below "
      "it."};
  add_expected_note(document.tables.back(), r, f.rates.rows.front().expected);
}

void add_layouts(Document& document, Object& plan, const PlanFacts& f) {
  plan.emplace_back("layouts", value(f.layouts.rows));
  if (f.layouts.rows.size() < 2) return;
  Table layouts = table<LayoutRow>("plan.layouts", "Ways to spread it over GPUs");
  const std::string context = shown(value(f.need.load.context));
  layouts.notes = {
      fmt::format("Weights and cache of the fullest GPU; users: sequences of {} tokens that fit. "
                  "Tokens/s at most: of one user alone, of each of {}, and of all these.",
                  context, f.need.fill ? "these users" : fmt::format("{}", f.need.load.batch))};
  document.tables.push_back(std::move(layouts));
}

void add_detail(Document& document, Table table) {
  table.detail = true;
  document.tables.push_back(std::move(table));
}

// What the layout copies and sends, and what moving a cache would take.
void add_traffic(Document& document, Object& plan, const Resolved& r, const PlanFacts& f) {
  const Load load = f.asked.value_or(Load{std::min(kUsersContext, r.longest()), 1});
  const std::string size = fmt::format("{} x {} tokens", load.batch, shown(value(load.context)));
  plan.emplace_back("stored", value(stored_parts(r.setup, load)));
  const auto crossing = crossings(r.setup, load);
  plan.emplace_back("crossings", value(crossing));
  plan.emplace_back("transfers", value(transfers(r.setup, load.context)));
  if (r.setup.deployment.parallel.gpus() > 1)
    add_detail(document, table<StoredPart>("plan.stored",
                                           "What this layout stores, with the cache of " + size));
  if (!crossing.empty()) {
    add_detail(document, table<Crossing>("plan.crossings", "Between GPUs in a step of " + size));
    if (std::any_of(crossing.begin(), crossing.end(),
                    [](const Crossing& c) { return c.kind == Crossing::all_to_all; }))
      document.tables.back().notes = {
          "All-to-all with experts chosen alike, in 16 bits; the ceiling counts what no routing "
          "avoids, in 4 bits."};
  }
  add_detail(document, table<Transfer>("plan.transfers",
                                       fmt::format("Moving the cache of one sequence of {} tokens",
                                                   shown(value(load.context)))));
}

void add_ladder(Document& document, Object& plan, const Resolved& r, const PlanFacts& f) {
  const Tokens usual = f.asked ? f.asked->context : std::min(kUsersContext, r.longest());
  Setup raw = r.setup;
  raw.model = r.as_read;
  if (f.refused_length) raw.engine.max_model_len.reset();  // each format has its own
  plan.emplace_back("ladder",
                    value(ladder(raw, ladder_recipes(r.setup), r.longest(), usual, usual)));
  document.tables.push_back(table<Rung>("plan.ladder", "Weight formats"));
  document.tables.back().notes = {
      fmt::format("Users and tok/s at {} tokens of context; tok/s is the ceiling for one user.",
                  shown(value(usual)))};
}

// The best layout of as many GPUs that holds the load.
std::optional<Parallelism> better_layout(const Resolved& r, const PlanFacts& f) {
  for (const LayoutRow& row : f.layouts.rows)
    if (row.meets() && row.layout.gpus() == r.setup.deployment.parallel.gpus()) return row.layout;
  return std::nullopt;
}

// What can be changed, and apart from it what is there already or would need another model.
void add_levers(Document& document, Object& plan, const Resolved& r, const PlanFacts& f) {
  const Load usual{std::min(kUsersContext, r.longest()), 1};
  std::vector<Lever> changes, background;
  for (Lever& lever :
       levers({r.setup, r.as_read, f.asked.value_or(usual), f.requests, better_layout(r, f)}))
    (lever.kind == Lever::change ? changes : background).push_back(std::move(lever));
  plan.emplace_back("levers", value(changes));
  plan.emplace_back("background", value(background));
  const Load load = f.asked.value_or(usual);
  document.tables.push_back(
      table<Lever>("plan.levers", fmt::format("What would help most here, at {} x {} tokens",
                                              load.batch, shown(value(load.context)))));
  document.tables.back().notes = {
      "Gains are ratios of ceilings: speed of all sequences together, users that fit, time to the "
      "first token."};
  add_detail(document,
             table<Lever>("plan.background", "At work already, or a matter of the model"));
  document.tables.back().notes = {"What is at work already is compared with doing without."};
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
  choose_length(request, r, f);
  f.sizing = sizing(r.setup, f.asked, usual, r.longest());
  f.rates = decode_answer(r.setup, rate_loads(r, f.sizing, f.asked), trace);
  f.fast_enough = fast_enough(request, f.rates);
  f.need = need_of(request, r, f);
  if (!r.setup.engine.kv_pool)
    f.layouts = search_layouts(r.setup, f.need, r.setup.deployment.parallel.gpus());
  return f;
}

}  // namespace

Answer answer_plan(const Request& request, const Catalog& catalog) {
  Resolved r =
      resolve(request, catalog, request.model, request.device.value_or(""), usual_engine(request));
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
