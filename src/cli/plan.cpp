// SPDX-License-Identifier: Apache-2.0
// kv-plan plan MODEL DEVICE: does it fit, how much fits, how fast, how many GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/answer.h"
#include "engine/command_line.h"
#include "model/parameters.h"
#include "plan/ladder.h"
#include "plan/levers.h"
#include "plan/sizing.h"
#include "plan/speed.h"
#include "report/budget.h"
#include "report/device.h"
#include "report/kv.h"
#include "report/ladder.h"
#include "report/levers.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/speed.h"

namespace kvplan {
namespace {

constexpr Tokens kUsersContext{8192};  // "users at 8k"

// File types of the llama.cpp family are run by it; anything else by vLLM.
std::string_view usual_engine(const Request& request) {
  const auto is_gguf = [](std::string_view name) {
    return name.ends_with(".gguf") || name.starts_with("q2_") || name.starts_with("q3_") ||
           name.starts_with("q4_") || name.starts_with("q5_") || name.starts_with("q6_") ||
           name.starts_with("q8_") || name.starts_with("iq") || name == "mxfp4_moe";
  };
  return is_gguf(request.model) || is_gguf(request.weights.value_or("")) ? "llama.cpp" : "vllm";
}

std::optional<Load> asked_load(const Request& request, Resolved& r) {
  if (!request.context && !request.users && !request.batch && !request.input && !request.output)
    return std::nullopt;
  return loads(request, r, fmt::format("{}", std::min(kUsersContext, r.longest()).n), "1").front();
}

std::vector<std::string_view> ladder_recipes(const Setup& setup) {
  const bool llama_cpp = setup.engine.name == "llama.cpp" || setup.engine.name == "ollama";
  if (llama_cpp) return {"fp16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "q2_k"};
  return {"config", "bf16", "fp8", "int4-g128"};
}

// What the engine does when nobody names a length: it takes the model's own and may refuse.
std::optional<std::string> default_length_note(const Resolved& r, const Sizing& f) {
  if (r.setup.engine.name != "vllm" || r.setup.engine.max_model_len || !f.capacity.max_context)
    return std::nullopt;
  if (*f.capacity.max_context >= r.longest()) return std::nullopt;
  return fmt::format(
      "vLLM would refuse to start at the model's own length of {} tokens: pass --max-model-len {}.",
      shown(value(r.longest())), f.capacity.max_context->n);
}

std::string rate_text(const Resolved& r, const Load& load) {
  const auto rows = decode_answer(r.setup, std::span(&load, 1)).rows;
  if (!rows[0].step.seconds) return "";
  return fmt::format(", at most {} tokens/s each",
                     shown(tokens_per_second(1, *rows[0].step.seconds), Show::tokens_per_second));
}

std::string lead_of(const Resolved& r, const Sizing& f, const std::optional<Load>& asked,
                    const std::optional<FewestGpus>& fewest) {
  const std::string who = subject(r);
  if (!f.fits) {
    const bool no_room = f.pool.n <= 0;
    std::string text =
        no_room ? fmt::format("No: {} leaves no memory for a cache (weights take {}).", who,
                              shown(value(resident_weights(r.setup.model))))
        : asked ? fmt::format("No: {} cannot hold {} x {} tokens.", who, asked->batch,
                              shown(value(asked->context)))
                : fmt::format("No: {} leaves {} for the cache, less than one useful sequence.", who,
                              shown(value(f.pool)));
    if (fewest) text += fmt::format(" {} such GPUs would do.", fewest->gpus);
    if (no_room && !fewest) text += " Not even 64 such GPUs would do.";
    return text;
  }
  if (asked)
    return fmt::format("Yes: {} holds {} x {} tokens{}.", who, asked->batch,
                       shown(value(asked->context)), rate_text(r, *asked));
  const Tokens users_context = std::min(kUsersContext, r.longest());
  std::string text = fmt::format("Yes: {} reaches {} tokens for one user", who,
                                 f.max_context ? shown(value(*f.max_context)) : "no");
  if (f.max_batch)
    text += fmt::format(", or {} users at {}{}", *f.max_batch, shown(value(users_context)),
                        rate_text(r, {users_context, *f.max_batch}));
  return text + ".";
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

}  // namespace

Answer answer_plan(const Request& request, const Catalog& catalog) {
  Resolved r =
      resolve(request, catalog, request.model, request.device.value_or(""), usual_engine(request));
  const auto asked = asked_load(request, r);
  const Tokens usual = std::min(kUsersContext, r.longest());
  const Sizing f = sizing(r.setup, asked, usual, r.longest());
  Document document = start(r, "plan");
  std::optional<FewestGpus> fewest;
  if (!r.setup.engine.kv_pool)
    fewest = fewest_gpus(r.setup, asked.value_or(Load{std::min(Tokens(2048), r.longest()), 1}));

  Trace trace;
  const auto rates =
      decode_answer(r.setup, rate_loads(r, f, asked), request.explain ? &trace : nullptr);
  const bool yes = f.fits && fast_enough(request, rates);
  document.lead = {lead_of(r, f, asked, fewest)};
  if (f.fits && !yes)
    document.lead = {fmt::format(
        "No: {} holds the load, but even its ceiling is slower than asked.", subject(r))};
  if (f.budget) {
    document.body.emplace_back("budget", value(*f.budget));
    document.tables.push_back(table<NamedLine>("budget.lines", "Memory of one GPU"));
  }
  document.body.emplace_back("capacity", value(f.capacity));
  document.body.emplace_back("decode", value(rates));
  document.tables.push_back(table<DecodeRow>("decode.rows", "Decode"));
  document.tables.back().notes = {
      "A ceiling is what no correct engine can beat on this device; served throughput lies below "
      "it."};
  Object plan{{"fits", value(yes)},
              {"gpus_needed", fewest ? value(fewest->gpus) : Value{}},
              {"max_context", value(f.max_context)},
              {"max_batch", value(f.max_batch)},
              {"max_batch_context", value(asked ? asked->context : usual)}};
  if (!r.setup.engine.kv_pool) {
    Setup raw = r.setup;
    raw.model = r.as_read;
    plan.emplace_back("ladder",
                      value(ladder(raw, ladder_recipes(r.setup), r.longest(), usual, usual)));
    document.tables.push_back(table<Rung>("plan.ladder", "Weight formats"));
    document.tables.back().notes = {
        fmt::format("Users and tok/s at {} tokens of context; tok/s is the ceiling for one user.",
                    shown(value(usual)))};
  }
  if (!r.setup.engine.kv_pool) {
    const auto found = levers({r.setup, r.as_read, asked.value_or(Load{usual, 1})});
    plan.emplace_back("levers", value(found));
    document.tables.push_back(table<Lever>("plan.levers", "What would help most here"));
  }
  if (request.explain) add_explanation(document, trace);
  if (f.fits) {
    const Tokens reached = f.capacity.max_context.value_or(f.max_context.value_or(r.longest()));
    const Tokens length = std::min(reached, r.longest());
    const std::string line = command_line(r.setup.engine, r.setup.deployment,
                                          {r.as_read.name, length, asked ? asked->batch : 1});
    if (!line.empty()) {
      plan.emplace_back("command_line", value(line));
      document.closing.push_back("Run it: " + line);
    }
  }
  document.body.emplace_back("plan", Value{std::move(plan)});
  if (const auto text = default_length_note(r, f)) document.closing.push_back(*text);
  finish(document, r);
  return {std::move(document), yes ? 0 : 1, r.warnings};
}

}  // namespace kvplan
