// SPDX-License-Identifier: Apache-2.0
// kv-plan check LOG [MODEL] [DEVICE]: what an engine printed against what was predicted.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "cli/answer.h"
#include "cli/from_log.h"
#include "logs/read.h"
#include "plan/check.h"
#include "plan/remedy.h"
#include "report/check.h"

namespace kvplan {
namespace {

StartLog log_at(const std::string& path, const Catalog& catalog) {
  if (path == "-") return read_log(std::cin, catalog.engines());
  std::ifstream in(path, std::ios::binary);
  if (!in || in.peek() == std::ifstream::traits_type::eof())
    throw Error(in.is_open() ? "is empty or cannot be read" : "cannot be opened").in(path);
  return read_log(in, catalog.engines());
}

StartLog recognised(const std::string& path, const Catalog& catalog) {
  StartLog log = log_at(path, catalog);
  if (log.engine.empty())
    throw Error(fmt::format("no line of an engine's start among {} lines", log.lines))
        .in(path)
        .advise("Logs of vLLM, SGLang, TensorRT-LLM, llama.cpp and ollama are read.");
  return log;
}

// "check LOG h100-sxm": the log names the model, the only name typed is the device's.
Request with_names_in_place(Request request, const StartLog& log, const Catalog& catalog) {
  const bool names_itself = !log.model.empty() || !log.metadata.empty();
  if (!request.device && !request.model.empty() && names_itself &&
      !catalog.find("models", request.model) && catalog.find("devices", request.model)) {
    request.device = request.model;
    request.model.clear();
  }
  return request;
}

// The log's memory is this very device's; without a device it is all that is known of it.
void use_logged_memory(Resolved& r, const StartLog& log) {
  if (!log.device_memory || log.device_memory->least.n <= 0) return;
  if (!r.setup.device) {
    r.setup.device.emplace();
    r.setup.device->name = "of-the-log";
    r.setup.device->title = "the log's device";
    r.setup.device->kind = "gpu";
  }
  r.setup.device->memory = {log.device_memory->least, "the log", false};
  r.setup.engine.device = r.setup.device;
}

// A catalog's formats are not those of a GGUF file made from it.
bool names_file_type(const Request& request) {
  return request.weights || request.model.ends_with(".gguf");
}

std::string engine_title(const Setup& setup) {
  return setup.engine.name + (setup.engine.version.empty() ? "" : " " + setup.engine.version);
}

std::int64_t count_of(const Check& check, CheckLine::Verdict verdict) {
  return std::count_if(check.lines.begin(), check.lines.end(),
                       [&](const CheckLine& l) { return l.verdict == verdict; });
}

std::string lead_of(const Resolved& r, const Check& check) {
  const std::string who = engine_title(r.setup) + " with " + r.setup.model.name;
  const std::int64_t differs = count_of(check, CheckLine::differs);
  const std::int64_t compared = differs + count_of(check, CheckLine::agrees);
  if (compared == 0)
    return fmt::format("Nothing that {} printed could be predicted from what is known.", who);
  if (differs == 0)
    return fmt::format("Agrees: {} {} that {} printed {} as predicted.",
                       compared == 1 ? "the" : fmt::format("all {}", compared),
                       compared == 1 ? "amount" : "amounts", who, compared == 1 ? "is" : "are");
  return fmt::format("Differs: {} of {} amounts that {} printed are not as predicted.", differs,
                     compared, who);
}

std::string refusal_text(const Remedy& remedy) {
  std::string text = "Refused: " + sentence_on(remedy);
  if (!remedy.changes.empty() && remedy.changes.front().fits)
    text += " It starts with " + remedy.changes.front().how + ".";
  else if (!remedy.needs.empty())
    text += " Give " + remedy.needs + " to see what would let it start.";
  else
    text += " No single change that kv-plan knows lets it start.";
  return text;
}

Value refusal_value(const std::optional<Remedy>& remedy) {
  if (!remedy) return {};
  return value(Object{{"cause", value(sentence_on(*remedy))},
                      {"line", value(remedy->refusal.line)},
                      {"text", value(remedy->refusal.text)},
                      {"changes", value(remedy->changes)}});
}

void describe(Document& document, const Resolved& r, const Check& check,
              const std::optional<Remedy>& remedy) {
  if (remedy) document.lead.push_back(refusal_text(*remedy));
  if (!remedy || !check.lines.empty()) document.lead.push_back(lead_of(r, check));
  document.body.emplace_back("check", value(Object{{"agrees", value(check.agrees())},
                                                   {"lines", value(check.lines)},
                                                   {"missing", value(check.missing)},
                                                   {"refusal", refusal_value(remedy)}}));
  document.tables = {table<CheckLine>("check.lines", "Logged against predicted")};
  if (remedy)
    document.tables.push_back(table<Change>("check.refusal.changes", "What would let it start"));
  for (const Missing& m : check.missing)
    document.closing.push_back(
        fmt::format("Not in the log: {}. Say it with {}.", m.what, m.option));
}

}  // namespace

Answer answer_check(const Request& typed, const Catalog& catalog) {
  const StartLog log = recognised(typed.file, catalog);
  std::vector<Warning> warnings;
  const Request request =
      with_log(with_names_in_place(typed, log, catalog), log, catalog, warnings);
  const std::string device = request.device.value_or(device_in(log, catalog));
  Resolved r =
      resolve(request, catalog, model_for(request, log, catalog, warnings), device, log.engine);
  use_logged_memory(r, log);
  r.warnings.insert(r.warnings.end(), warnings.begin(), warnings.end());
  Check found = check(r.setup, log);
  if (!names_file_type(request))
    std::erase_if(found.lines, [](const CheckLine& l) { return l.what == kWeightBuffer; });
  const auto refused = remedy(r.setup, log);
  if (found.lines.empty() && !refused)
    throw Error("no line about memory or the cache among " + std::to_string(log.lines) + " lines")
        .in(typed.file)
        .advise("The lines wanted are those that the engine prints before it serves.");
  Document document = start(r, "check");
  describe(document, r, found, refused);
  finish(document, r);
  const bool compared = count_of(found, CheckLine::agrees) > 0;
  return {std::move(document), compared && found.agrees() && !refused ? 0 : 1, r.warnings};
}

}  // namespace kvplan
