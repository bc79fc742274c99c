// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/profiles.h"
#include "engine/flags.h"
#include "plan/ladder.h"
#include "plan/levers.h"
#include "plan/room.h"
#include "plan/solve.h"
#include "report/budget.h"
#include "report/kv.h"
#include "report/ladder.h"
#include "report/levers.h"
#include "report/numbers.h"
#include "report/replication.h"
#include "report/speed.h"

namespace kvplan {
namespace {

std::vector<std::string_view> ladder_recipes(const Setup& setup) {
  const bool llama_cpp = setup.engine.name == "llama.cpp" || setup.engine.name == "ollama";
  if (llama_cpp) return {"fp16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "q2_k"};
  return {"config", "bf16", "fp8", "int4-g128"};
}

void add_detail(Document& document, Table table) {
  table.detail = true;
  document.tables.push_back(std::move(table));
}

// The best layout of as many GPUs that holds the load.
std::optional<Parallelism> better_layout(const Resolved& r, const PlanFacts& f) {
  for (const LayoutRow& row : f.layouts.rows)
    if (row.meets() && row.layout.gpus() == r.setup.deployment.parallel.gpus()) return row.layout;
  return std::nullopt;
}

}  // namespace

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
        "budget.lines", fmt::format("Memory of {}, as {} divides it",
                                    r.setup.device->joins_others() ? "one GPU" : "the machine",
                                    r.setup.engine.name)));
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

std::vector<Rung> weight_formats(const Resolved& r, const PlanFacts& f) {
  const Tokens usual = f.asked ? f.asked->context : std::min(kUsersContext, r.longest());
  Setup raw = r.setup;
  raw.model = r.as_read;
  if (f.refused_length) raw.engine.max_model_len.reset();  // each format has its own
  return ladder(raw, ladder_recipes(r.setup), r.longest(), usual, usual);
}

void add_ladder(Document& document, Object& plan, const Resolved& r, const PlanFacts& f) {
  const Tokens usual = f.asked ? f.asked->context : std::min(kUsersContext, r.longest());
  plan.emplace_back("ladder", value(f.ladder));
  document.tables.push_back(table<Rung>("plan.ladder", "Weight formats"));
  document.tables.back().notes = {
      fmt::format("Users and tok/s at {} tokens of context; tok/s is the ceiling for one user.",
                  shown(value(usual)))};
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

}  // namespace kvplan
