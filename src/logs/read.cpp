// SPDX-License-Identifier: Apache-2.0
#include "logs/read.h"

#include <array>

#include "engine/version.h"
#include "logs/lines.h"
#include "logs/notes.h"
#include "logs/tables.h"

namespace kvplan {
namespace {

using namespace logs;

struct Family {
  std::string_view engine;
  std::span<const Row> (*rows)();
  std::span<const Form> (*forms)();
};
std::span<const Form> none() { return {}; }
// ollama prints llama.cpp's lines too: its own decide.
constexpr std::array kFamilies = {
    Family{"vllm", vllm_rows, vllm_forms}, Family{"sglang", sglang_rows, none},
    Family{"trtllm", trtllm_rows, none}, Family{"ollama", ollama_rows, none},
    Family{"llama.cpp", llamacpp_rows, llamacpp_forms}};

// Whether an engine's lines may stand in a log that is known to be of `engine`.
bool may_print(std::string_view engine, std::string_view family) {
  if (engine.empty() || engine == family) return true;
  const bool llama = engine == "llama.cpp" || engine == "ollama";
  return llama && (family == "llama.cpp" || family == "ollama");
}

// The newest version that the forms of the lines prove.
void note_form(const Family& family, StartLog& log, std::string_view line) {
  if (!log.version.empty()) return;
  for (const Form& form : family.forms())
    if (line.find(form.text) != std::string_view::npos &&
        (log.version_hint.empty() || parse_version(log.version_hint) < parse_version(form.since)))
      log.version_hint = form.since;
}

// The first row that fits tells all that the line says.
bool note_first(const Family& family, StartLog& log, Found& found) {
  for (const Row& row : family.rows()) {
    const auto captures = match(found.line, row.pattern);
    if (!captures) continue;
    if (log.engine.empty() || family.engine == "ollama") log.engine = family.engine;
    note_form(family, log, found.line);
    found.captures = *captures;
    row.note(log, found);
    return true;
  }
  return false;
}

void note_line(StartLog& log, std::string_view line, std::int64_t number) {
  Found found{line, number, {}};
  for (const Family& family : kFamilies)
    if (may_print(log.engine, family.engine) && note_first(family, log, found)) return;
  for (const Row& row : common_rows())
    if (const auto captures = match(line, row.pattern)) {
      found.captures = *captures;
      return row.note(log, found);
    }
}

}  // namespace

StartLog read_log(std::istream& in, const FindEngine& find) {
  StartLog log;
  Lines lines(in);
  for (std::string line; lines.next(line);) note_line(log, unwrapped(line), lines.number());
  if (!log.engine.empty()) keep_followed(log, *find(log.engine));
  log.lines = lines.number();
  log.cut_lines = lines.cut();
  return log;
}

}  // namespace kvplan
