// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/flags.h"
#include "report/text.h"

using namespace kvplan;

namespace {

Request typed(std::vector<const char*> words) {
  words.insert(words.begin(), "kv-plan");
  return parse(static_cast<int>(words.size()), words.data());
}

Error refusal(const std::vector<const char*>& words) {
  try {
    typed(words);
  } catch (const Error& e) {
    return e;
  }
  return Error("accepted");
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("options become typed values and what was not typed stays absent") {
  const Request r = typed({"decode", "llama-3.1-8b", "--context", "4k,max", "8xh100-sxm", "--tp=8",
                           "--batch", "1..4*2", "--kv-pool", "24GiB", "--utilization", "90%"});
  CHECK(r.command == Command::decode);
  CHECK(r.model == "llama-3.1-8b");
  CHECK(r.device == "8xh100-sxm");
  CHECK(r.context == std::vector<AskedLength>{{Tokens(4096)}, {}});
  CHECK(r.batch == std::vector<std::int64_t>{1, 2, 4});
  CHECK(r.tp == 8);
  CHECK(r.kv_pool == Bytes(24 * kGiB));
  CHECK(r.utilization == 0.9);
  CHECK_FALSE(r.gpus);
  CHECK_FALSE(r.weights);
  CHECK_FALSE(r.format);
  CHECK_FALSE(r.text);
  CHECK_FALSE(r.explain);
}

TEST_CASE("engine flags repeat, with underscores for dashes") {
  const Request r =
      typed({"kv", "m", "--set", "max-num-seqs=256", "--set", "--enforce-eager=true"});
  REQUIRE(r.set.size() == 2);
  CHECK(r.set[0] == std::pair<std::string, std::string>{"max_num_seqs", "256"});
  CHECK(r.set[1] == std::pair<std::string, std::string>{"enforce_eager", "true"});
}

TEST_CASE("a sweep takes any number of names, calibrate none") {
  CHECK(typed({"sweep", "a", "b", "c"}).names == std::vector<std::string>{"a", "b", "c"});
  CHECK(typed({"calibrate", "--quick", "--seed", "0"}).quick);
  CHECK(holds(refusal({"calibrate", "x"}).what(), "too many"));
  CHECK(holds(refusal({"sweep", "a"}).what(), "needs a DEVICE"));
}

TEST_CASE("an option or command that does not exist is refused with the near miss") {
  CHECK(refusal({"kv", "m", "--contxt", "4k"}).key == "--contxt");
  CHECK(holds(refusal({"kv", "m", "--contxt", "4k"}).advice, "--context?"));
  CHECK(holds(refusal({"decod", "m"}).advice, "Did you mean decode?"));
  CHECK(holds(refusal({"kv", "m", "--quick"}).advice, "other commands"));
  CHECK(holds(refusal({"prefill", "m", "d", "--context", "4k"}).advice, "Here it is --prompt."));
  CHECK(holds(refusal({"decode", "m", "d", "--prompt", "4k"}).advice, "Here it is --context."));
  CHECK(holds(refusal({"--format", "json", "kv"}).what(), "before the command"));
  CHECK(refusal({"kv", "m", "-z"}).key == "-z");
}

TEST_CASE("a refused value names its flag and shows what is accepted") {
  const Error size = refusal({"plan", "m", "d", "--reserve", "24"});
  CHECK(size.key == "--reserve");
  CHECK(holds(size.advice, "24GiB"));
  const Error none = refusal({"kv", "m", "--context"});
  CHECK(none.key == "--context");
  CHECK(holds(none.advice, "4k,32k"));
  CHECK(holds(refusal({"kv", "m", "--output", "report.html"}).advice, "-o FILE"));
  CHECK(refusal({"kv", "m", "--tp", "-1"}).key == "--tp");
}

TEST_CASE("an option never takes the next option as its value") {
  CHECK(holds(refusal({"kv", "m", "--kv", "--tp", "2"}).what(), "--tp follows"));
  CHECK(holds(refusal({"kv", "m", "--kv=", "--tp", "2"}).what(), "needs a value"));
  CHECK(refusal({"kv", "m", "--kv", "[]", "--tp", "2"}).key == "[]");
  CHECK(holds(refusal({"kv", "m", "--kv", ""}).what(), "empty"));
}

TEST_CASE("an option given twice must say the same") {
  CHECK(typed({"kv", "m", "--tp=2", "--tp", "2"}).tp == 2);
  CHECK(holds(refusal({"kv", "m", "--tp", "2", "--tp", "4"}).what(), "as 2 and as 4"));
  CHECK(
      holds(refusal({"kv", "m", "--set", "a-b=1", "--set", "a_b=2"}).what(), "a_b as 1 and as 2"));
}

TEST_CASE("a pasted line stands for the model where only a device is named") {
  const Request r = typed({"plan", "--engine-command", "vllm serve org/m", "8xh100"});
  CHECK(r.model.empty());  // the engine's own flags are needed to find it in the line
  CHECK(r.device == "8xh100");
  const Request both = typed({"plan", "m", "h100", "--engine-command", "llama-server -m f.gguf"});
  CHECK(both.model == "m");
  CHECK(both.device == "h100");
}

TEST_CASE("missing and superfluous arguments show the usage") {
  CHECK(holds(refusal({"kv"}).what(), "needs a MODEL"));
  CHECK(holds(refusal({"decode", "m"}).advice, "kv-plan decode MODEL DEVICE"));
  CHECK(holds(refusal({"decode", "llama", "3", "8b"}).advice, "quotes"));
  CHECK(typed({"gqa", "m"}).device == std::nullopt);
  CHECK(typed({"models"}).filter == std::nullopt);
  CHECK(typed({"kv", "--", "--odd-name"}).model == "--odd-name");
}

TEST_CASE("a switch can be turned off") {
  CHECK(typed({"kv", "m", "--explain"}).explain);
  CHECK_FALSE(typed({"kv", "m", "--explain=false"}).explain);
}

TEST_CASE("help is at hand wherever one asks for it") {
  const std::string general = *typed({}).text;
  CHECK(*typed({"--help"}).text == general);
  CHECK(*typed({"help"}).text == general);
  CHECK(*typed({"kv", "--help"}).text == *typed({"help", "kv"}).text);
  CHECK(*typed({"decode", "m", "--bad", "-h"}).text == *typed({"help", "decode"}).text);
  CHECK(typed({"--version"}).text->starts_with("kv-plan "));
  for (const CommandSpec& c : commands()) CHECK(holds(general, c.name.data()));
}

TEST_CASE("each command's help shows its options, defaults and an example in 88 columns") {
  for (const CommandSpec& c : commands()) {
    const std::string help = *typed({"help", c.name.data()}).text;
    CAPTURE(help);
    for (const std::string_view flag : c.flag_names())
      CHECK(holds(help, flag_named(flag).dashed()));
    for (const Default& d : c.defaults) CHECK(holds(help, "(default " + std::string(d.value)));
    REQUIRE_FALSE(c.examples.empty());
    CHECK(holds(help, std::string(c.examples.front().line)));
    for (const std::string& line : wrapped(help, 1000)) CHECK(display_width(line) <= 88);
  }
}

TEST_CASE("the examples of the help are accepted") {
  for (const CommandSpec& c : commands())
    for (const Example& e : c.examples) {
      std::string joined(e.line);
      std::vector<std::string> split;
      for (std::size_t at = 0; at < joined.size();) {
        const std::size_t end = std::min(joined.find(' ', at), joined.size());
        split.push_back(joined.substr(at, end - at));
        at = end + 1;
      }
      std::vector<const char*> pointers;
      for (const std::string& word : split) pointers.push_back(word.c_str());
      CAPTURE(joined);
      CHECK(parse(static_cast<int>(pointers.size()), pointers.data()).command == c.command);
    }
}

TEST_CASE("defaults are what the help says, as typed values") {
  const Request kv = defaults_of(Command::kv);
  CHECK(kv.batch == std::vector<std::int64_t>{1, 8, 32});
  CHECK(kv.context->size() == 5);
  CHECK(kv.context->back() == AskedLength{});
  CHECK_FALSE(defaults_of(Command::plan).context);
}

TEST_CASE("each option is described once and used by some command") {
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    std::size_t described = 0, used = 0;
    for (const Flag& other : flags()) described += other.name == flag.name;
    for (const CommandSpec& c : commands())
      for (const std::string_view name : c.flag_names()) used += name == flag.name;
    CHECK(described == 1);
    CHECK(used >= 1);
  }
}
