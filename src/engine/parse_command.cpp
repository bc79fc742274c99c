// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "engine/command_line.h"
#include "engine/flags.h"
#include "engine/nested.h"
#include "engine/program.h"
#include "engine/settings.h"
#include "engine/shell.h"

namespace kvplan {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 8> kEnds = {"|", "||", "&&", ";", "&", ">", ">>", "2>&1"};

std::string as_setting(std::string_view flag) {  // "--max-model-len" → "max_model_len"
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word.front() == '-' &&
         !std::isdigit(static_cast<unsigned char>(word[1])) && word[1] != '.' && word[1] != '{';
}

// vLLM reads counts as 32k = 32,000 and 32K = 32,768, likewise m, M, g, G.
std::string plain_count(const std::string& text) {
  constexpr std::string_view kDecimal = "kmg", kBinary = "KMG";
  if (text.empty()) return text;
  std::int64_t unit = 1;
  const auto times = [&](std::size_t power, std::int64_t base) {
    for (std::size_t i = 0; i <= power; ++i) unit *= base;
  };
  if (const auto at = kDecimal.find(text.back()); at != std::string_view::npos) times(at, 1000);
  if (const auto at = kBinary.find(text.back()); at != std::string_view::npos) times(at, 1024);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, number);
  if (unit == 1 || error != std::errc{} || end != text.data() + text.size() - 1) return text;
  const double count = number * static_cast<double>(unit);
  return count < 9e18 ? std::to_string(static_cast<std::int64_t>(count)) : text;
}

// Spellings that turn a switch off: --no-X, --disable-X of --enable-X, and the other way round.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOpposites = {
    {{"no_", ""}, {"disable_", "enable_"}, {"enable_", "disable_"}}};

// A flag as it was spelled: what it is, and whether the spelling turns it off.
struct Spelled {
  const EngineFlag* flag = nullptr;
  bool off = false;
};
Spelled spelled_exactly(const EngineFlags& table, const std::string& word) {
  for (const EngineFlag& flag : table.flags)
    for (const auto& [spellings, off] :
         {std::pair(&flag.spellings, false), std::pair(&flag.negations, true)})
      if (std::find(spellings->begin(), spellings->end(), word) != spellings->end())
        return {&flag, off};
  return {};
}
Spelled spelled(const EngineFlags& table, const std::string& word) {
  if (const Spelled exactly = spelled_exactly(table, word); exactly.flag) return exactly;
  const std::string name = as_setting(word);
  if (const EngineFlag* flag = table.find(name)) return {flag, false};
  for (const auto& [said, meant] : kOpposites)
    if (name.starts_with(said))
      if (const EngineFlag* flag = table.find(std::string(meant).append(name.substr(said.size())));
          flag && flag->kind == EngineFlag::toggle)
        return {flag, true};
  return {};
}

// A key of a JSON flag, with a dot: "-cc.mode" → "--compilation_config.mode".
std::string with_whole_name(const EngineFlags& table, const std::string& word) {
  const std::size_t dot = word.find('.');
  if (dot == std::string::npos) return word;
  const Spelled found = spelled_exactly(table, word.substr(0, dot));
  if (!found.flag || found.flag->kind != EngineFlag::json) return word;
  return "--" + found.flag->name + word.substr(dot);
}

class Line {
 public:
  Line(Words words, const FindEngine& find) : words_(std::move(words)), find_(find) {}

  EngineCommand parsed() {
    find_program();
    for (; at_ < words_.size() && !ends(words_[at_]); ++at_) read_word();
    if (command_.options.name == "ollama" && command_.model.empty()) find_run();
    for (const std::string& word : before_) read_environment(word);
    check_settings(command_.options);
    return std::move(command_);
  }

 private:
  static bool ends(const std::string& word) {
    return std::find(kEnds.begin(), kEnds.end(), word) != kEnds.end();
  }

  void find_program() {
    const Started started = engine_started(words_);
    before_.assign(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(started.at));
    at_ = started.flags_from;
    command_.options.name = started.engine;
    command_.options.flags = find_(started.engine);
    command_.options.version = started.version;
  }

  // "ollama serve & ollama run TAG"
  void find_run() {
    for (; at_ + 2 < words_.size(); ++at_)
      if (words_[at_] == "ollama" && words_[at_ + 1] == "run") command_.model = words_[at_ + 2];
  }

  void read_word() {
    std::string word = words_[at_];
    if (!is_flag(word)) {
      if (command_.model.empty()) command_.model = word;
      return;
    }
    std::optional<std::string> value;
    if (const auto equals = word.find('='); equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    }
    word = with_whole_name(flags_of(command_.options), word);
    if (word.size() > 2 && word.starts_with("-O") &&
        word.find_first_not_of("0123456789", 2) == word.npos) {
      value = word.substr(2);  // as compilers have it: -O3
      word.resize(2);
    }
    if (names_model(word)) {
      command_.model = value ? *value : following();
      return;
    }
    const EngineFlags& table = flags_of(command_.options);
    const Spelled found = spelled(table, word);
    if (found.flag)
      set(*found.flag, found.off ? "false" : value ? *value : value_after(*found.flag));
    else
      pass_over(table, word, value.has_value());
  }
  static bool names_model(const std::string& word) {
    for (const char* flag :
         {"--model", "--model-path", "--model_path", "-m", "-hf", "-hfr", "--hf-repo"})
      if (word == flag) return true;
    return false;
  }

  // The value after a flag; a switch has none unless it is a word for on or off.
  std::string value_after(const EngineFlag& flag) {
    const std::string next = at_ + 1 < words_.size() ? words_[at_ + 1] : "";
    if (flag.kind == EngineFlag::toggle) return "true";
    if (flag.kind == EngineFlag::list) return words_up_to_flag();
    if (flag.kind == EngineFlag::tristate) {
      for (const char* word : {"on", "off", "auto", "0", "1"})
        if (next == word) return following();
      return "on";
    }
    return following();
  }
  std::string following() {
    if (at_ + 1 >= words_.size() || ends(words_[at_ + 1]))
      throw Error("needs a value").of(words_[at_]);
    return words_[++at_];
  }
  std::string words_up_to_flag() {
    std::string all = following();
    while (at_ + 1 < words_.size() && !is_flag(words_[at_ + 1]) && !ends(words_[at_ + 1]))
      all += "," + words_[++at_];
    return all;
  }
  void set(const EngineFlag& flag, const std::string& value) {
    auto& settings = command_.options.settings;
    if (flag.kind != EngineFlag::json) {
      const bool counts = flag.kind == EngineFlag::integer && command_.options.name == "vllm";
      settings[flag.name] = counts ? plain_count(value) : value;
      return;
    }
    for (const auto& [name, text] : settings_of_json(flag.name, value)) {
      if (flags_of(command_.options).find(name))
        settings[name] = text;
      else
        remark(name, name);
    }
  }
  void pass_over(const EngineFlags& table, const std::string& word, bool has_value) {
    const std::string name = as_setting(word);
    if (name == "extra_llm_api_options" && !has_value && read_echoed_file()) return;
    remark(name, word);
    const bool takes = !has_value && !table.is_switch(name) && at_ + 1 < words_.size() &&
                       !is_flag(words_[at_ + 1]) && !ends(words_[at_ + 1]);
    at_ += takes;
  }
  // A file that the line makes itself: <(echo '{"enable_attention_dp":true}').
  bool read_echoed_file() {
    constexpr std::size_t kWords = 2;
    if (at_ + kWords >= words_.size() || words_[at_ + 1] != "<(echo") return false;
    std::string json = words_[at_ += kWords];
    if (json.ends_with(')')) json.pop_back();
    const EngineFlags& table = flags_of(command_.options);
    constexpr std::string_view kFile = "file.";
    for (const auto& [name, text] : settings_of_json("file", json)) {
      const std::string setting = name.substr(kFile.size());
      if (const EngineFlag* flag = table.find(setting))
        set(*flag, text);
      else
        remark(setting, setting);
    }
    return true;
  }
  // What is to be said of a flag that is not followed.
  void remark(const std::string& name, const std::string& word) {
    const EngineFlags& table = flags_of(command_.options);
    if (const EngineFlags::Remark* known = table.remark(name))
      command_.warnings.push_back({"flag-not-followed", word + " " + known->text});
    else if (!table.is_idle(name))
      command_.warnings.push_back(
          {"unknown-flag", word + " is not known here and is left out of the account"});
  }
  // "OLLAMA_NUM_PARALLEL=4", "LLAMA_ARG_CTX_SIZE=8192"; a flag of the line itself comes first.
  void read_environment(const std::string& word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) return;
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    const Spelled found = spelled_exactly(flags_of(command_.options), name);
    if (found.flag && command_.options.settings.count(found.flag->name) == 0)
      set(*found.flag, value);
    else if (!found.flag && name.starts_with("OLLAMA_"))
      remark(name, name);
  }

  Words words_, before_;
  const FindEngine& find_;
  std::size_t at_ = 0;
  EngineCommand command_;
};

}  // namespace

EngineCommand parse_command(std::string_view line, const FindEngine& find) {
  return Line(shell_words(line), find).parsed();
}

}  // namespace kvplan
