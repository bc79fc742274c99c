// SPDX-License-Identifier: Apache-2.0
#include "catalog/engine_file.h"

#include <algorithm>
#include <array>

#include "catalog/fields.h"
#include "engine/settings.h"
#include "nearest.h"

namespace kvplan {
namespace {

constexpr std::array kKinds = {std::pair{std::string_view("toggle"), EngineFlag::toggle},
                               std::pair{std::string_view("tristate"), EngineFlag::tristate},
                               std::pair{std::string_view("integer"), EngineFlag::integer},
                               std::pair{std::string_view("number"), EngineFlag::number},
                               std::pair{std::string_view("size"), EngineFlag::size},
                               std::pair{std::string_view("text"), EngineFlag::text},
                               std::pair{std::string_view("choice"), EngineFlag::choice},
                               std::pair{std::string_view("json"), EngineFlag::json},
                               std::pair{std::string_view("list"), EngineFlag::list}};

EngineFlag::Kind kind_of(const Node& node) {
  const std::string text = node.string().value_or("");
  std::vector<std::string> known;
  for (const auto& [name, kind] : kKinds) {
    if (name == text) return kind;
    known.emplace_back(name);
  }
  throw Error("'" + text.substr(0, 80) + "' is no kind of flag")
      .of("kind")
      .at_line(node.line)
      .advise(did_you_mean(text, known));
}

std::string text_or(const Node& node, std::string_view key, const std::string& otherwise) {
  const std::string text = text_in(node, key);
  return text.empty() ? otherwise : text;
}

std::string version_in(const Node& node, std::string_view key) {
  std::string text = text_in(node, key);
  if (!text.empty()) parse_version(text);
  return text;
}

// "70GiB"
Bytes size_of(const Node& node) {
  EngineOptions one;
  one.settings["memory"] = node.string().value_or("");
  return *Settings(one).bytes("memory");
}

EngineFlag::Default default_of(const Node& node, const EngineFlag& flag,
                               const std::string& origin) {
  const bool is_map = node.kind == Node::map;
  if (is_map)
    allow_only(node, {"value", "since", "memory", "except", "only", "ranks", "note", "source"},
               "a default");
  const Node* value = is_map ? node.find("value") : &node;
  if (!value || value->kind != Node::scalar)
    throw Error("this default has no value").of(flag.name).at_line(node.line);
  EngineFlag::Default d;
  d.value = value->text;
  d.source = text_or(node, "source", origin);
  if (d.source.empty()) throw Error("this default has no source").of(flag.name).at_line(node.line);
  d.since = version_in(node, "since");
  if (const Node* memory = node.find("memory")) d.memory = size_of(*memory);
  d.except = text_in(node, "except");
  d.only = text_in(node, "only");
  d.note = text_in(node, "note");
  if (const Node* ranks = node.find("ranks")) d.ranks = ranks->integer().value_or(1);
  check_value(flag, d.value);
  return d;
}

void read_defaults(const Node& node, const std::string& origin, EngineFlag& flag) {
  const Node* own = node.find("default");
  if (!own) return;
  const std::string from = text_or(node, "source", origin);
  flag.defaults.clear();
  if (own->kind != Node::list) flag.defaults.push_back(default_of(*own, flag, from));
  for (const Node& item : own->items)
    if (own->kind == Node::list) flag.defaults.push_back(default_of(item, flag, from));
}

// What the node says of a flag; the rest stays as it is.
void read_flag(const Node& node, const std::string& origin, EngineFlag& flag) {
  allow_only(node,
             {"kind", "spellings", "negations", "option", "choices", "default", "assumed", "source",
              "remark"},
             "a flag");
  const auto said = [&](const char* key) { return node.find(key) != nullptr; };
  if (const Node* kind = node.find("kind")) flag.kind = kind_of(*kind);
  if (said("spellings")) flag.spellings = texts_in(node, "spellings");
  if (said("negations")) flag.negations = texts_in(node, "negations");
  if (said("option")) flag.option = text_in(node, "option");
  if (said("remark")) flag.remark = text_in(node, "remark");
  if (said("choices")) flag.choices = texts_in(node, "choices");
  if (const Node* assumed = node.find("assumed")) flag.assumed = assumed->boolean().value_or(false);
  read_defaults(node, origin, flag);
}

EngineFlag& flag_named(const std::string& name, const Node& node, EngineFlags& engine) {
  for (EngineFlag& flag : engine.flags)
    if (flag.name == name) return flag;
  if (!node.find("kind")) throw Error("a flag needs its kind");
  engine.flags.emplace_back().name = name;
  return engine.flags.back();
}

std::vector<EngineFlags::Remark> remarks_in(const Node& node, std::string_view key) {
  std::vector<EngineFlags::Remark> remarks;
  if (const Node* all = node.find(key); all && all->kind == Node::map)
    for (const auto& [name, text] : all->members) {
      if (text.string().value_or("").empty())
        throw Error("needs what to say of it").of(name).at_line(text.line);
      remarks.push_back({name, text.text});
    }
  return remarks;
}

Hardware hardware_in(const Node& node, const std::string& origin) {
  allow_only(node, {"of", "since", "at_least", "only", "source"}, "a line of an engine's hardware");
  Hardware line{text_in(node, "of"), version_in(node, "since"), version_in(node, "at_least"),
                texts_in(node, "only"), text_or(node, "source", origin)};
  if (line.of.empty() || line.source.empty())
    throw Error("needs `of` (a vendor, or cpu) and a source").of("hardware").at_line(node.line);
  return line;
}

}  // namespace

EngineFlags read_engine(const Node& file, EngineFlags engine) {
  allow_only(file, {"name", "aliases", "source", "newest", "hardware", "flags", "idle", "remarks"},
             "an engine file");
  engine.engine = text_in(file, "name");
  const std::string source = text_in(file, "source");
  if (engine.source.empty()) engine.source = source;
  if (file.find("newest")) engine.newest = version_in(file, "newest");
  if (const Node* hardware = file.find("hardware")) {
    engine.hardware.clear();
    for (const Node& line : hardware->items) engine.hardware.push_back(hardware_in(line, source));
  }
  if (const Node* flags = file.find("flags"); flags && flags->kind == Node::map)
    for (const auto& [name, node] : flags->members) {
      try {
        read_flag(node, source, flag_named(name, node, engine));
      } catch (Error& e) {
        throw e.of(name).at_line(node.line);
      }
    }
  if (const Node* idle = file.find("idle")) {
    allow_only(*idle, {"switches", "values"}, "the idle flags of an engine file");
    engine.idle_switches = texts_in(*idle, "switches");
    engine.idle_values = texts_in(*idle, "values");
  }
  if (const Node* remarks = file.find("remarks")) {
    allow_only(*remarks, {"switches", "values"}, "the remarks of an engine file");
    engine.remarked_switches = remarks_in(*remarks, "switches");
    engine.remarked_values = remarks_in(*remarks, "values");
  }
  return engine;
}

}  // namespace kvplan
