// SPDX-License-Identifier: Apache-2.0
// kv-plan decode MODEL DEVICE: tokens per second by context x batch, what binds, where it crosses
// over.
#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/loads.h"
#include "cli/profiles.h"
#include "cli/serving_part.h"
#include "plan/speed.h"
#include "report/kv.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/speed.h"

namespace kvplan {
namespace {

constexpr const char* kCeilingNote =
    "A ceiling is what no correct engine can beat on this device; served throughput lies below it.";

// reports/METHOD.md, "What an engine makes of it".
constexpr const char* kOnProcessors =
    "Expected are kv-plan's own kernels: on two threads of a Zen 4 llama.cpp reached 0.92 to 1.05 "
    "of it with weights in fp16, 0.87 to 0.99 in q4_0 and 0.79 to 0.92 in q8_0.";

bool is_llamacpp_on_processors(const Setup& setup) {
  return setup.device && setup.device->kind == "cpu" &&
         (setup.engine.name == "llama.cpp" || setup.engine.name == "ollama");
}

std::vector<std::string> crossover_notes(const DecodeAnswer& decode) {
  std::vector<std::string> notes;
  const DecodeRow& first = decode.rows.front();
  if (decode.crossover_batch && *decode.crossover_batch > 1)
    notes.push_back(
        fmt::format("At {} tokens of context, weight reads stop being the bottleneck at batch {}.",
                    shown(value(first.context)), *decode.crossover_batch));
  if (decode.crossover_context)
    notes.push_back(fmt::format(
        "At batch {}, reading the cache costs more than reading the weights from {} tokens on.",
        first.batch, shown(value(*decode.crossover_context))));
  return notes;
}

// "A step of 8 x 4,096 tokens, on one GPU".
std::string title_of(const char* what, const Load& load) {
  return fmt::format("{} of {} x {} tokens, on one GPU", what, load.batch,
                     shown(value(load.context)));
}

std::string lead_of(const Resolved& r, const DecodeRow& row) {
  if (!row.step.seconds)
    return fmt::format("{}: the datasheet says too little for a ceiling.", subject(r));
  return fmt::format(
      "{}: at most {} tokens/s at batch {} and {} tokens of context; {} binds.", subject(r),
      shown(tokens_per_second(row.batch, *row.step.seconds), Show::tokens_per_second), row.batch,
      shown(value(row.context)), name_of(row.step.bound));
}

}  // namespace

Answer answer_decode(const Request& request, const Catalog& catalog) {
  Resolved r = resolve(request, catalog, request.model, request.device.value_or(""), "ideal");
  choose_profile(request, catalog, r);
  const auto asked = loads(request, r, "4k,32k", "1,8,32,128");
  Trace trace;
  const DecodeAnswer decode = decode_answer(r.setup, asked, request.explain ? &trace : nullptr);
  Document document = start(r, "decode");
  document.body.emplace_back("decode", value(decode));
  document.lead = {lead_of(r, decode.rows.front())};
  Table rates = table<DecodeRow>("decode.rows", "Decode");
  rates.notes = crossover_notes(decode);
  rates.notes.insert(rates.notes.begin(), kCeilingNote);
  add_expected_note(rates, r, decode.rows.front().expected);
  if (decode.rows.front().expected.time && is_llamacpp_on_processors(r.setup))
    rates.notes.emplace_back(kOnProcessors);
  rates.chart = Chart{"batch", "ceiling.tokens_per_second", "context"};
  document.tables = {std::move(rates)};
  add_serving(document, r, asked_requests(request, asked));
  if (request.explain) add_explanation(document, trace);
  if (request.breakdown) {
    const Load& load = asked.front();
    add_breakdown(document,
                  decode_breakdown(r.setup.model, r.setup.deployment, *r.setup.device, load.context,
                                   load.batch),
                  title_of("A step", load));
    add_kernels(document, r,
                decode_launches(r.setup.model, r.setup.deployment, load.context, load.batch),
                "Its kernels, as the profile expects them");
  }
  finish(document, r);
  return {std::move(document), 0, r.warnings};
}

Answer answer_prefill(const Request& request, const Catalog& catalog) {
  Resolved r = resolve(request, catalog, request.model, request.device.value_or(""), "ideal");
  choose_profile(request, catalog, r);
  const auto asked = prompts(request, r);
  Trace trace;
  const auto rows = prefill_answer(r.setup, asked, request.explain ? &trace : nullptr);
  Document document = start(r, "prefill");
  document.body.emplace_back("prefill", value(Object{{"rows", value(rows)}}));
  const PrefillRow& first = rows.front();
  if (first.prefill.seconds)
    document.lead = {fmt::format("{}: a {} of {} tokens takes at least {}{}; {} binds.", subject(r),
                                 generates(r.setup.model) ? "prompt" : "text",
                                 shown(value(first.prompt)), shown(value(*first.prefill.seconds)),
                                 generates(r.setup.model) ? " to its first token" : "",
                                 name_of(first.prefill.bound))};
  Table rates = table<PrefillRow>("prefill.rows", "Prefill");
  rates.notes = {kCeilingNote};
  add_expected_note(rates, r, first.expected);
  document.tables = {std::move(rates)};
  if (request.explain) add_explanation(document, trace);
  if (request.breakdown) {
    const Load& load = asked.front();
    add_breakdown(document,
                  prefill_breakdown(r.setup.model, r.setup.deployment, *r.setup.device,
                                    load.context, load.batch),
                  title_of("A prompt", load));
    add_kernels(document, r,
                prefill_launches(r.setup.model, r.setup.deployment, load.context, load.batch),
                "Its kernels, as the profile expects them");
  }
  finish(document, r);
  return {std::move(document), 0, r.warnings};
}

}  // namespace kvplan
