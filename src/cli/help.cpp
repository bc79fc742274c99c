// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/flags.h"
#include "report/text.h"
#include "report/version.h"

namespace kvplan {
namespace {

constexpr std::size_t kWidth = 88, kNameColumn = 26;

// "  NAME   text", the text wrapped in its own column.
std::string entry(std::string_view name, std::string_view text) {
  std::string out;
  std::string_view label = name;
  if (name.size() > kNameColumn - 4) {  // it does not fit its column: a line of its own
    out = fmt::format("  {}\n", name);
    label = {};
  }
  for (const std::string& line : wrapped(text, kWidth - kNameColumn)) {
    out += fmt::format("  {:<{}}{}\n", label, kNameColumn - 2, line);
    label = {};
  }
  return out;
}

std::string_view default_of(const CommandSpec& command, std::string_view flag) {
  for (const Default& d : command.defaults)
    if (d.flag == flag) return d.value;
  return {};
}

std::string options(const CommandSpec& command) {
  using enum FlagGroup;
  const std::vector<std::string_view> names = command.flag_names();
  std::string out;
  for (const FlagGroup group : {load, model, deployment, device, calibration, output}) {
    std::string entries;
    for (const Flag& flag : flags()) {  // in the order of the table, whatever the command's
      if (flag.group != group || std::find(names.begin(), names.end(), flag.name) == names.end())
        continue;
      const std::string_view otherwise = default_of(command, flag.name);
      entries +=
          entry(flag.dashed() + (flag.argument.empty() ? "" : " ") + std::string(flag.argument),
                std::string(flag.help) +
                    (otherwise.empty() ? "" : fmt::format(" (default {})", otherwise)));
    }
    if (!entries.empty()) out += fmt::format("\n{}:\n{}", title_of(group), entries);
  }
  return out;
}

std::string positionals(const CommandSpec& command) {
  std::string out;
  for (const Positional& p : command.positionals) {
    std::string_view text;
    if (p.name == "MODEL")
      text =
          "a catalog name, a Hugging Face id of the catalog, or a path: config.json, its folder, "
          ".gguf, .safetensors, .safetensors.index.json, .yaml";
    else if (p.name == "DEVICE")
      text = "a catalog name, local (this machine) or a .yaml; 8xh100-sxm is eight of them";
    else if (p.name == "FILE")
      text = "config.json, .gguf, .safetensors, .safetensors.index.json, or a folder";
    else if (p.name == "LOG")
      text = "what an engine printed when it started";
    else if (p.name == "FILTER")
      text = "show only names that hold this";
    else if (p.name == "NAME")
      text = "an engine, to list its flags";
    out += entry(p.name, text);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string version_text() { return fmt::format("kv-plan {}\n", version()); }

std::string general_help() {
  std::string out =
      "kv-plan: how much memory an LLM takes and how fast it can be, before you rent the GPU.\n\n"
      "Usage: kv-plan COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands:\n";
  for (const CommandSpec& c : commands()) {
    const std::string usage = c.usage();  // "kv-plan NAME ARGUMENTS [OPTIONS]"
    const std::string_view inner = std::string_view(usage).substr(8, usage.size() - 8 - 10);
    out += entry(inner, c.answers);
  }
  out += "\nExamples:\n";
  for (const Command command : {Command::plan, Command::kv, Command::decode})
    out += fmt::format("  {}\n", spec_of(command).examples.front().line);
  out += "\n" + entry("kv-plan help COMMAND", "its options, their defaults, examples") +
         entry("kv-plan --version", "the version") +
         "\nExit status: 0 done, 1 the answer is no, 2 wrong use or wrong input.\n";
  return out;
}

std::string help_on(const CommandSpec& command) {
  std::string out =
      fmt::format("{}: {}.\n\nUsage: {}\n", command.name, command.answers, command.usage());
  out += positionals(command) + options(command) + "\nExamples:\n";
  std::size_t width = 0;
  for (const Example& e : command.examples) width = std::max(width, e.line.size());
  for (const Example& e : command.examples)
    out += fmt::format("  {:<{}}   # {}\n", e.line, width, e.what);
  return out;
}

}  // namespace kvplan
