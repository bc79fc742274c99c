// SPDX-License-Identifier: Apache-2.0
// kv-plan engines [NAME]: which engines, flags and defaults are known, and where they are from.
#include <fmt/format.h>

#include "cli/answer.h"
#include "report/value.h"

namespace kvplan {
namespace {

constexpr std::string_view kKinds[] = {"on/off", "on/off/auto", "integer", "number", "size",
                                       "text",   "choice",      "JSON",    "list"};

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// When a default holds: "since 0.8, from 70 GiB, not on a100".
std::string conditions(const EngineFlag::Default& d) {
  std::vector<std::string> when;
  if (!d.since.empty()) when.push_back("since " + d.since);
  if (d.memory) when.push_back(fmt::format("from {} GiB", d.memory->n / kGiB));
  if (!d.except.empty()) when.push_back("not on " + d.except);
  if (!d.only.empty()) when.push_back("on " + d.only);
  if (d.ranks > 1) when.push_back(fmt::format("from {} ranks", d.ranks));
  if (!d.note.empty()) when.push_back(d.note);
  return joined(when);
}

Object flag_row(const EngineFlag& flag) {
  return {{"flag", value(flag.name)},
          {"kind", value(kKinds[flag.kind])},
          {"option", flag.option.empty() ? Value{} : value(flag.option)},
          {"spellings", flag.spellings.empty() ? Value{} : value(joined(flag.spellings))},
          {"choices", flag.choices.empty() ? Value{} : value(joined(flag.choices))}};
}

// One row for each default; a flag without one has a row too.
void add_rows(Array& rows, const EngineFlag& flag) {
  if (flag.defaults.empty()) rows.push_back(value(flag_row(flag)));
  for (const EngineFlag::Default& d : flag.defaults) {
    Object row = flag_row(flag);
    const std::string when = conditions(d);
    row.emplace_back("default", value(d.value));
    row.emplace_back("when", when.empty() ? Value{} : value(when));
    row.emplace_back("source", value(d.source));
    rows.push_back(value(std::move(row)));
  }
}

// "from 7.5", "gfx942, gfx950", "all".
std::string admitted(const Hardware& line) {
  if (!line.at_least.empty()) return "compute capability from " + line.at_least;
  return line.only.empty() ? "all" : joined(line.only);
}

Object hardware_row(const Hardware& line) {
  return {{"of", value(line.of)},
          {"which", value(admitted(line))},
          {"since", line.since.empty() ? Value{} : value(line.since)},
          {"source", value(line.source)}};
}

Object engine_row(const EngineFlags& engine, const std::vector<std::string>& aliases) {
  return {{"name", value(engine.engine)},
          {"newest", engine.newest.empty() ? Value{} : value(engine.newest)},
          {"flags", value(engine.flags.size())},
          {"aliases", aliases.empty() ? Value{} : value(joined(aliases))},
          {"source", engine.source.empty() ? Value{} : value(engine.source)}};
}

Document all_engines(const Catalog& catalog) {
  Array rows;
  for (const CatalogEntry& entry : catalog.entries("engines"))
    rows.push_back(value(engine_row(*catalog.engine(entry.name), entry.aliases)));
  Document document;
  document.title = "Engines";
  document.lead = {
      fmt::format("{} engines. `kv-plan engines NAME` lists the flags of one.", rows.size())};
  document.body.emplace_back("engines", Value{std::move(rows)});
  document.tables = {{"engines",
                      "",
                      {{"engine", "name"},
                       {"newest known", "newest"},
                       {"flags", "flags"},
                       {"also called", "aliases"},
                       {"source", "source"}},
                      {},
                      {}}};
  return document;
}

Document one_engine(const EngineFlags& engine) {
  Array rows;
  for (const EngineFlag& flag : engine.flags) add_rows(rows, flag);
  Document document;
  document.title = "Flags of " + engine.engine;
  document.lead = {fmt::format("{} flags of {} bear on memory{}. Each is a --set FLAG=VALUE.",
                               engine.flags.size(), engine.engine,
                               engine.newest.empty() ? "" : ", up to version " + engine.newest)};
  if (engine.flags.empty()) document.lead = {engine.engine + " has no flags."};
  Object body = engine_row(engine, {});
  body.erase(body.begin() + 3);  // aliases: the list of engines has them
  body[2] = {"flags", Value{std::move(rows)}};
  Array hardware;
  for (const Hardware& line : engine.hardware) hardware.push_back(value(hardware_row(line)));
  body.emplace_back("hardware", Value{std::move(hardware)});
  document.body.emplace_back("engine", value(std::move(body)));
  Table flags{"engine.flags",
              "",
              {{"flag", "flag"},
               {"kind", "kind"},
               {"default", "default"},
               {"when", "when"},
               {"same as", "option"},
               {"source of the default", "source"},
               {"", "spellings"},
               {"", "choices"}},
              {},
              {}};
  Table runs_on{
      "engine.hardware",
      "Runs on",
      {{"devices of", "of"}, {"which", "which"}, {"since", "since"}, {"source", "source"}},
      {},
      {}};
  document.tables = {std::move(flags), std::move(runs_on)};
  return document;
}

}  // namespace

Answer answer_engines(const Request& request, const Catalog& catalog) {
  Document document =
      request.filter ? one_engine(*catalog.engine(*request.filter)) : all_engines(catalog);
  document.command = "engines";
  return {std::move(document), 0, {}};
}

}  // namespace kvplan
