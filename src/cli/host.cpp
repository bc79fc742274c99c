// SPDX-License-Identifier: Apache-2.0
// kv-plan plan|decode|prefill MODEL rtx-4090 --host ryzen-9-9950x: how fast, with which flags.
#include "cli/host.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/host_text.h"
#include "cli/loads.h"
#include "cli/machine.h"
#include "cli/profiles.h"
#include "engine/command_line.h"
#include "plan/kv.h"
#include "report/device.h"
#include "report/kv.h"
#include "report/model.h"
#include "report/numbers.h"
#include "report/split.h"

namespace kvplan {
namespace {

constexpr const char* kCeilingNote =
    "The ceiling holds for any engine that keeps these bytes on these parts.";
constexpr const char* kDecodeNote =
    "'In turn' is the law of an engine that runs part after part at their peak rates; fourteen "
    "public measurements reached 0.22 to 0.59 of it.";
constexpr const char* kPrefillNote =
    "'In turn' copies the host's matrices to a GPU for each micro-batch of 32 tokens and more, "
    "experts as if chosen uniformly, which prompts are not: four public ones reached 0.72 to 1.33 "
    "of "
    "it. A larger --set ubatch_size copies them less often.";

template <class Row>
std::vector<Row> as(const std::vector<MachineRow>& rows) {
  std::vector<Row> all;
  all.reserve(rows.size());
  for (const MachineRow& row : rows) all.push_back(Row{row});
  return all;
}

// Parts of the answer that every command shares.
Document begin(const Question& q, const SplitAnswer& answer, std::string_view command) {
  Document document = start(q.r, command);
  document.title = fmt::format("{} on {}", q.r.setup.model.name, title_of(q.machine));
  for (Member& member : document.body)
    if (member.key == "device" && !q.machine.gpus.empty() && q.machine.gpus[0].kind != "")
      member.value = value(q.machine.gpus[0]);
  Array gpus;
  for (const DeviceSpec& gpu : q.machine.gpus) gpus.push_back(value(gpu.name));
  document.body.emplace_back(
      "machine", value(Object{{"gpus", value(std::move(gpus))},
                              {"host", q.machine.host ? value(*q.machine.host) : Value{}}}));
  document.body.emplace_back("split", value(Object{{"fits", value(answer.choice.fits)},
                                                   {"flags", value(flags_object(answer))},
                                                   {"max_context", value(answer.max_context)},
                                                   {"parts", value(answer.parts)},
                                                   {"lines", value(answer.lines)}}));
  document.tables = {table<PartSummary>("split.parts", "Parts"),
                     table<MachineLine>("split.lines", "What lies where")};
  return document;
}

void add_decode(Document& document, Question& q, const std::vector<DecodeOnMachine>& rows) {
  document.body.emplace_back("decode", value(Object{{"rows", value(rows)}}));
  document.tables.insert(document.tables.begin(), table<DecodeOnMachine>("decode.rows", "Decode"));
  document.tables.front().notes = {kCeilingNote, kDecodeNote};
  add_expected_note(document.tables.front(), q.machine, q.r, rows.front().expected);
}

void add_prefill(Document& document, Question& q, const std::vector<PrefillOnMachine>& rows) {
  document.body.emplace_back("prefill", value(Object{{"rows", value(rows)}}));
  document.tables.push_back(table<PrefillOnMachine>("prefill.rows", "Prefill"));
  document.tables.back().notes = {kCeilingNote};
  if (rows.front().time.copied.n > 0) document.tables.back().notes.push_back(kPrefillNote);
  add_expected_note(document.tables.back(), q.machine, q.r, rows.front().expected);
}

void add_breakdown(Document& document, const Question& q, const SplitChoice& choice,
                   const Load& load, bool prompt) {
  const auto portions = machine_breakdown(q.r.setup, q.machine, choice, load, prompt);
  document.body.emplace_back("breakdown", value(portions));
  document.tables.push_back(table<NamedPortion>(
      "breakdown",
      fmt::format("{} of {} x {} tokens, by the part that holds the bytes",
                  prompt ? "Prompts" : "A step", load.batch, shown(value(load.context)))));
}

// Other weight formats, where the model is no finished file, and what one change would bring.
void add_alternatives(Document& document, Object& body, const Request& request, const Question& q,
                      const SplitAnswer& answer, const Load& load) {
  constexpr std::string_view kUsual[] = {"q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m"},
                             kSmall[] = {"q2_k", "iq2_xxs", "iq1_s"};
  if (!request.model.ends_with(".gguf")) {
    Setup raw = q.r.setup;
    raw.model = q.r.as_read;
    auto rungs = split_ladder(raw, q.machine, load, kUsual);
    if (!rungs.back().outcome.fits)
      for (SplitRung& rung : split_ladder(raw, q.machine, load, kSmall))
        rungs.push_back(std::move(rung));
    const auto fits = [](const SplitRung& rung) { return rung.outcome.fits; };
    const auto first = std::find_if(rungs.begin(), rungs.end(), fits);
    if (!answer.choice.fits && first != rungs.end())
      document.closing.push_back(fmt::format("It would fit with --weights {}.", first->recipe));
    body.emplace_back("ladder", value(rungs));
    document.tables.push_back(table<SplitRung>("plan.ladder", "Weight formats"));
    document.tables.back().notes = {
        fmt::format("Rates of parts in turn, each with its best split, at {} tokens of context.",
                    shown(value(load.context)))};
  }
  const auto levers = split_levers(q.r.setup, q.machine, load);
  body.emplace_back("levers", value(levers));
  if (!levers.empty())
    document.tables.push_back(table<SplitLever>("plan.levers", "What would help most here"));
}

std::string command_of(const Question& q, const SplitAnswer& answer, const Load& load) {
  const EngineOptions options =
      with_split(q.r.setup.engine, answer.choice.split, q.machine.gpus.size());
  return command_line(options, q.r.setup.deployment, {q.r.served, load.context, load.batch});
}

void add_command(Document& document, Object& body, const Question& q, const SplitAnswer& answer,
                 const Load& load) {
  const std::string line = command_of(q, answer, load);
  body.emplace_back("command_line", value(line));
  if (answer.max_context)
    document.closing.push_back(fmt::format(
        "With this split one user reaches {} tokens{}.", shown(value(*answer.max_context)),
        *answer.max_context < q.r.longest() ? "; --context finds one for more" : ""));
  document.closing.push_back("Run it: " + line);
  if (q.r.setup.engine.name == "ollama")
    document.closing.push_back(
        fmt::format("In the Modelfile: PARAMETER num_gpu {}", answer.choice.split.gpu_layers));
}

Answer plan(const Request& request, Question q) {
  const Tokens usual = std::min(Tokens(8192), q.r.longest());
  const auto asked = loads(request, q.r, fmt::format("{}", usual.n), "1");
  const SplitAnswer answer = split_answer(q.r.setup, q.machine, asked.front(), q.r.longest());
  Trace trace;
  Trace* first = request.explain ? &trace : nullptr;
  const auto decode =
      as<DecodeOnMachine>(machine_decode(q.r.setup, q.machine, answer.choice, asked, first));
  std::vector<Load> prompts_asked{{std::min(Tokens(1024), q.r.longest()), 1},
                                  {std::min(usual, q.r.longest()), 1}};
  const auto prefill =
      as<PrefillOnMachine>(machine_prefill(q.r.setup, q.machine, answer.choice, prompts_asked));
  Document document = begin(q, answer, request.command == Command::report ? "report" : "plan");
  const bool fits = answer.choice.fits;
  const auto most = ceiling_of(decode.front());
  const bool fast = !most || (most->tokens_per_second >= request.min_tps_total.value_or(0) &&
                              most->per_sequence >= request.min_tps_per_user.value_or(0));
  document.lead = {
      verdict_text(document.title, q.machine, answer, asked.front(), decode.front(), fast)};
  add_decode(document, q, decode);
  add_prefill(document, q, prefill);
  Object body{{"fits", value(fits && fast)}, {"max_context", value(answer.max_context)}};
  if (first) add_explanation(document, trace);
  add_alternatives(document, body, request, q, answer, asked.front());
  if (fits) add_command(document, body, q, answer, asked.front());
  document.body.emplace_back("plan", Value{std::move(body)});
  finish(document, q.r);
  return {std::move(document), fits && fast ? 0 : 1, q.r.warnings};
}

Answer rates(const Request& request, Question q) {
  const bool decode = request.command == Command::decode;
  const auto asked = decode ? loads(request, q.r, "4k,32k", "1,4") : prompts(request, q.r);
  const SplitAnswer answer = split_answer(q.r.setup, q.machine, asked.front(), q.r.longest());
  Document document = begin(q, answer, decode ? "decode" : "prefill");
  std::string rate_text;
  Trace trace;
  Trace* first = request.explain ? &trace : nullptr;
  if (decode) {
    const auto rows =
        as<DecodeOnMachine>(machine_decode(q.r.setup, q.machine, answer.choice, asked, first));
    rate_text = decode_text(q.machine, rows.front());
    add_decode(document, q, rows);
  } else {
    const auto rows =
        as<PrefillOnMachine>(machine_prefill(q.r.setup, q.machine, answer.choice, asked, first));
    const auto turn = in_turn_of(rows.front());
    rate_text = turn ? fmt::format("a prompt of {} tokens takes {} with its parts in turn",
                                   shown(value(rows.front().context)), shown(value(turn->seconds)))
                     : "the time is not known: --host or its peaks are missing";
    add_prefill(document, q, rows);
    std::rotate(document.tables.begin(), document.tables.end() - 1, document.tables.end());
  }
  if (first) add_explanation(document, trace);
  if (request.breakdown) add_breakdown(document, q, answer.choice, asked.front(), !decode);
  document.lead = {fmt::format("{}: {}; {}.", document.title, split_text(answer), rate_text)};
  if (!answer.choice.fits) document.lead.push_back("It does not fit; the rates are as if it did.");
  finish(document, q.r);
  return {std::move(document), 0, q.r.warnings};
}

Answer caches(const Request& request, Question q) {
  const auto asked = loads(request, q.r, "4k,32k,max", "1");
  const SplitAnswer answer = split_answer(q.r.setup, q.machine, asked.front(), q.r.longest());
  Document document = begin(q, answer, "kv");
  Trace trace;
  const KvAnswer kv = kv_answer(q.r.setup, asked, request.explain ? &trace : nullptr);
  document.body.emplace_back("kv", value(kv));
  document.lead = {fmt::format("{}: {}; lines at {} x {} tokens.", document.title,
                               split_text(answer), asked.front().batch,
                               shown(value(asked.front().context)))};
  document.tables.push_back(table<KvRow>("kv.rows", "KV cache"));
  if (request.explain) add_explanation(document, trace);
  finish(document, q.r);
  return {std::move(document), 0, q.r.warnings};
}

}  // namespace

Answer answer_on_parts(const Request& request, const Catalog& catalog) {
  Question q = question_on_parts(request, catalog);
  switch (request.command) {
    case Command::plan:
    case Command::report:
      return plan(request, std::move(q));
    case Command::kv:
      return caches(request, std::move(q));
    default:
      return rates(request, std::move(q));
  }
}

}  // namespace kvplan
