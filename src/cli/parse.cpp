// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11, which sorts words into options, values and positionals; the
// tables of flags.cpp and commands.cpp say what they mean.
#include "cli/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "nearest.h"

namespace kvplan {
namespace {

using Words = std::vector<std::string>;

bool asks_help(const std::string& word) { return word == "--help" || word == "-h"; }
bool asks_version(const std::string& word) { return word == "--version" || word == "-V"; }

const CommandSpec& command_named(const std::string& word) {
  if (const CommandSpec* found = find_command(word)) return *found;
  if (word.starts_with('-'))
    throw Error("comes before the command").of(word).advise("Usage: kv-plan COMMAND [OPTIONS].");
  Words names;
  for (const CommandSpec& c : commands()) names.emplace_back(c.name);
  const std::string near = did_you_mean(word, names);
  throw Error("is not a command")
      .of(word)
      .advise((near.empty() ? "A command comes first, as in kv-plan plan MODEL DEVICE." : near) +
              " kv-plan --help lists all commands.");
}

std::string what_it_takes(const Flag& flag) {
  return flag.dashed() + " " + std::string(flag.argument) + ": " + std::string(flag.help) + ".";
}

// Notes one typed option; the same option twice must say the same.
class Noter {
 public:
  Noter(Request& request, const Flag& flag) : request_(request), flag_(flag) {}

  void operator()(const std::string& value) {
    try {
      if (!flag_.repeatable && value.starts_with("--"))
        throw Error("needs a value, but " + value + " follows");
      if (!flag_.repeatable && before_ && *before_ != value)
        throw Error("is given as " + *before_ + " and as " + value);
      before_ = value;
      flag_.note(request_, value);
    } catch (Error& e) {
      throw e.of(flag_.dashed()).advise(what_it_takes(flag_));
    }
  }

 private:
  Request& request_;
  const Flag& flag_;
  std::optional<std::string> before_;
};

// What one command calls by one name and another by another.
std::string called_here(const std::string& typed, const Words& here) {
  constexpr std::pair<std::string_view, std::string_view> kSame[] = {{"--context", "--prompt"},
                                                                     {"--prompt", "--context"},
                                                                     {"--users", "--batch"},
                                                                     {"--batch", "--users"}};
  for (const auto& [there, name] : kSame)
    if (typed == there && std::find(here.begin(), here.end(), name) != here.end())
      return "Here it is " + std::string(name) + ".";
  return "It is an option of other commands.";
}

[[noreturn]] void refuse_option(const std::string& word, const CommandSpec& command) {
  const std::string typed = word.substr(0, word.find('='));
  Words here;
  for (const std::string_view name : command.flag_names())
    here.push_back(flag_named(name).dashed());
  std::string advice = typed.size() > 2 ? did_you_mean(typed, here) : "";
  for (const Flag& flag : flags())
    if (flag.dashed() == typed) advice = called_here(typed, here);
  throw Error("is not an option of kv-plan " + std::string(command.name))
      .of(typed)
      .advise((advice.empty() ? advice : advice + " ") + "kv-plan help " +
              std::string(command.name) + " lists its options.");
}

[[noreturn]] void refuse_without_value(const std::string& dashed,
                                       const std::vector<std::string_view>& names) {
  Error error("needs a value");
  for (const std::string_view name : names)
    if (flag_named(name).dashed() == dashed) error.advise(what_it_takes(flag_named(name)));
  throw error.of(dashed);
}

// CLI11 takes the next word after "--kv=", drops "" and takes "[a,b]" apart; none is meant here.
void refuse_traps(const Words& words, const std::vector<std::string_view>& names) {
  for (const std::string& word : words) {
    if (word.empty()) throw Error("an argument is empty");
    const std::size_t mark = word.starts_with("--") ? word.find('=') : std::string::npos;
    if (mark == word.size() - 1) refuse_without_value(word.substr(0, mark), names);
    const std::string value = mark == std::string::npos ? word : word.substr(mark + 1);
    if (value.starts_with('[') && value.ends_with(']'))
      throw Error("is in brackets").of(word).advise("Write lists without brackets: 4k,32k.");
  }
}

// Sorts `words` (all after the command); options are noted, positionals returned.
Words sort_words(const Words& words, const CommandSpec& command, Request& request) {
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  const std::vector<std::string_view> names = command.flag_names();
  refuse_traps(words, names);
  std::vector<Noter> noters;
  noters.reserve(names.size());  // callbacks keep references
  for (const std::string_view name : names) {
    const Flag& flag = flag_named(name);
    Noter& noter = noters.emplace_back(request, flag);
    if (flag.argument.empty())
      app.add_flag_callback(flag.dashed(), [&noter] { noter(""); });
    else
      app.add_option_function<std::string>(flag.dashed(),
                                           [&noter](const std::string& v) { noter(v); })
          ->trigger_on_parse();
  }
  Words positionals;
  app.add_option("names", positionals);
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them last first
  } catch (const CLI::ArgumentMismatch&) {
    refuse_without_value(words.back(), names);
  } catch (const CLI::ParseError& e) {
    throw Error(e.what());
  }
  for (const std::string& word : app.remaining())
    if (word.starts_with('-') && word != "--") refuse_option(word, command);
  return positionals;
}

// Lists of what a missing word could be.
std::string where_to_look(std::string_view positional, const Words& typed) {
  if (positional == "MODEL") return " `kv-plan models` lists what is known.";
  if (positional == "DEVICE" && typed.size() == 1)
    return " `kv-plan devices --for " + typed.front() + "` lists which would do.";
  return "";
}

void take_positionals(const Words& typed, const CommandSpec& command, Request& request) {
  const std::string usage = "Usage: " + command.usage() + ".";
  const auto needed = std::count_if(command.positionals.begin(), command.positionals.end(),
                                    [](const Positional& p) { return p.required; });
  // The line of --engine-command may name the model.
  const bool in_line = request.engine_command && needed > 0 &&
                       typed.size() + 1 == static_cast<std::size_t>(needed) &&
                       command.positionals.front().name == "MODEL";
  if (typed.size() + in_line < static_cast<std::size_t>(needed))
    throw Error("needs a " + std::string(command.positionals[typed.size()].name))
        .of("kv-plan " + std::string(command.name))
        .advise(usage + where_to_look(command.positionals[typed.size()].name, typed));
  const bool many = !command.positionals.empty() && command.positionals.front().many;
  if (many) {
    request.names = typed;
    return;
  }
  if (typed.size() > command.positionals.size())
    throw Error("has an argument too many: " + typed[command.positionals.size()])
        .of("kv-plan " + std::string(command.name))
        .advise(usage + " A name with spaces needs quotes.");
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::string_view name = command.positionals[i + in_line].name;
    if (typed[i].empty()) throw Error("is empty").of(std::string(name)).advise(usage);
    if (name == "MODEL") request.model = typed[i];
    if (name == "DEVICE") request.device = typed[i];
    if (name == "FILE" || name == "LOG") request.file = typed[i];
    if (name == "FILTER" || name == "NAME") request.filter = typed[i];
  }
}

Request answered(std::string text) {
  Request request;
  request.text = std::move(text);
  return request;
}

}  // namespace

Request parse(int argc, const char* const* argv) {
  Words words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return answered(general_help());
  const std::string first = words.front();
  words.erase(words.begin());
  if (first == "help" || asks_help(first))
    return answered(words.empty() ? general_help() : help_on(command_named(words.front())));
  if (first == "version" || asks_version(first)) return answered(version_text());
  const CommandSpec& command = command_named(first);
  const auto end = std::find(words.begin(), words.end(), "--");
  if (std::any_of(words.begin(), end, asks_help)) return answered(help_on(command));
  if (std::any_of(words.begin(), end, asks_version)) return answered(version_text());
  Request request;
  request.command = command.command;
  take_positionals(sort_words(words, command, request), command, request);
  return request;
}

}  // namespace kvplan
