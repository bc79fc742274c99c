// SPDX-License-Identifier: Apache-2.0
// Which devices serve a load: the same as a plan says of each of them, in the order of their cost.
#include "plan/choices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cli/answer.h"
#include "cli/parse.h"
#include "report/numbers.h"

using namespace kvplan;

namespace {

using Words = std::vector<std::string>;

Answer run(Words words, Answer (*answer)(const Request&, const Catalog&)) {
  words.insert(words.begin(), "kv-plan");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return answer(parse(static_cast<int>(argv.size()), argv.data()), Catalog(""));
}

const Value& at(const Object& object, std::string_view key) {
  for (const Member& member : object)
    if (member.key == key) return member.value;
  FAIL("no ", key);
  return object.front().value;
}

std::int64_t gpus_needed(const std::string& model, const std::string& device) {
  const Answer plan = run({"plan", model, device, "--users", "16", "--context", "8k"}, answer_plan);
  const Value& needed = at(std::get<Object>(at(plan.document.body, "plan").v), "gpus_needed");
  return std::holds_alternative<std::int64_t>(needed.v) ? std::get<std::int64_t>(needed.v) : 99;
}

Array rows(Words words) {
  return std::get<Array>(at(run(std::move(words), answer_devices).document.body, "devices").v);
}

Choice priced(std::optional<double> usd, double rate) {
  Choice c;
  c.usd_per_hour = usd;
  c.layout.tokens_per_second = rate;
  return c;
}

}  // namespace

TEST_CASE("a device serves a load with as many GPUs as a plan for it needs") {
  for (const char* model : {"llama-3.1-8b", "llama-3.3-70b", "gpt-oss-120b"})
    for (const char* device : {"rtx-4090", "h100-sxm", "mi300x", "m3-ultra-80c"}) {
      CAPTURE(model);
      CAPTURE(device);
      const Array found =
          rows({"devices", device, "--for", model, "--users", "16", "--context", "8k"});
      const auto row = std::find_if(found.begin(), found.end(), [&](const Value& v) {
        return std::get<std::string>(at(std::get<Object>(v.v), "name").v) == device;
      });
      const std::int64_t needed = gpus_needed(model, device);
      CHECK((row != found.end()) == (needed <= 8));
      if (row != found.end())
        CHECK(std::get<std::int64_t>(at(std::get<Object>(row->v), "gpus").v) == needed);
    }
}

TEST_CASE("devices with a price go by it, those without one follow by their speed") {
  std::vector<Choice> choices = {priced({}, 50), priced(9, 10), priced({}, 70), priced(2, 1)};
  sort_choices(choices);
  CHECK(choices[0].usd_per_hour == 2);
  CHECK(choices[1].usd_per_hour == 9);
  CHECK(choices[2].layout.tokens_per_second == 70);
  CHECK(choices[3].layout.tokens_per_second == 50);
}

TEST_CASE("a rate that is asked for keeps out devices whose ceiling lies below it") {
  // 15 GiB of weights pass at most 63 times a second through 1008 GB/s, 19 times through 300.
  const Array fast =
      rows({"devices", "rtx", "--for", "llama-3.1-8b", "--min-tps-per-user", "40", "--gpus", "1"});
  const auto has = [&](const std::string& name) {
    return std::any_of(fast.begin(), fast.end(), [&](const Value& v) {
      return std::get<std::string>(at(std::get<Object>(v.v), "name").v) == name;
    });
  };
  CHECK(has("rtx-4090"));
  CHECK_FALSE(has("rtx-4000-ada"));
}

TEST_CASE("where nothing serves a load, devices say so and the status is no") {
  const Answer none = run({"devices", "rtx-4090", "--for", "deepseek-v3"}, answer_devices);
  CHECK(none.status == 1);
  CHECK(none.document.tables.empty());
}

TEST_CASE("a load without a model is refused by devices, and so is a list of loads") {
  CHECK_THROWS_WITH(run({"devices", "--users", "4"}, answer_devices),
                    doctest::Contains("of a model that is to be served"));
  CHECK_THROWS_WITH(
      run({"devices", "h100", "--for", "llama-3.1-8b", "--context", "4k,8k"}, answer_devices),
      doctest::Contains("one load, not for a list"));
}

TEST_CASE("devices for a model warn of what is wrong on all of them, and refuse an encoder") {
  const Answer beyond =
      run({"devices", "rtx-4090", "--for", "llama-3.1-8b", "--context", "1m"}, answer_devices);
  CHECK(std::any_of(beyond.warnings.begin(), beyond.warnings.end(),
                    [](const Warning& w) { return w.code == "beyond-model-context"; }));
  CHECK_THROWS_WITH(run({"devices", "rtx-4090", "--for", "bert-base"}, answer_devices),
                    doctest::Contains("is an encoder"));
}

TEST_CASE("a device that vLLM does not run on is planned with llama.cpp, or warned about") {
  const auto engine_on = [](const char* device) {
    const Answer plan = run({"plan", "qwen3-8b", device}, answer_plan);
    return std::get<std::string>(
        at(std::get<Object>(at(plan.document.body, "deployment").v), "engine").v);
  };
  CHECK(engine_on("t4") == "vllm");
  CHECK(engine_on("p40") == "llama.cpp");
  CHECK(engine_on("m3-ultra-80c") == "llama.cpp");
  for (const auto& [engine, warned] : {std::pair{"vllm", true}, {"llama.cpp", false}}) {
    const Answer plan = run({"plan", "qwen3-8b", "p40", "--engine", engine}, answer_plan);
    CHECK(warned == std::any_of(plan.warnings.begin(), plan.warnings.end(),
                                [](const Warning& w) { return w.code == "engine-hardware"; }));
  }
}

TEST_CASE("a layout that exchanges beyond what links join is warned about") {
  const auto warned = [](Words words) {
    words.insert(words.begin(), {"decode", "deepseek-v3"});
    const Answer answer = run(std::move(words), answer_decode);
    return std::any_of(answer.warnings.begin(), answer.warnings.end(),
                       [](const Warning& w) { return w.code == "beyond-links"; });
  };
  CHECK_FALSE(warned({"8xh100-sxm"}));
  CHECK_FALSE(warned({"h100-sxm", "--tp", "8", "--pp", "2"}));  // stages hand on once
  CHECK(warned({"h100-sxm", "--tp", "16"}));
  CHECK(warned({"h100-sxm", "--dp", "16", "--ep", "16"}));
  CHECK_FALSE(warned({"gb200", "--tp", "16"}));  // 72 in a rack
  CHECK(warned({"h100-pcie", "--tp", "4"}));     // bridges join pairs
}

TEST_CASE("devices are found by their vendor and by their kind") {
  for (const Value& row : rows({"devices", "apple"}))
    CHECK(std::get<std::string>(at(std::get<Object>(row.v), "vendor").v) == "Apple");
  CHECK(rows({"devices", "cpu"}).size() > 10);
}

TEST_CASE("a plan that fits opens with the rates that its table has for the same loads") {
  for (const Words& load : {Words{}, Words{"--users", "4", "--context", "4k"}}) {
    Words words = {"plan", "llama-3.1-8b", "rtx-4090"};
    words.insert(words.end(), load.begin(), load.end());
    const Document plan = run(words, answer_plan).document;
    const Array rates = std::get<Array>(at(std::get<Object>(at(plan.body, "decode").v), "rows").v);
    const Object& first = std::get<Object>(rates.front().v);
    for (const char* part : {"ceiling", "expected"}) {
      const auto& rate = at(std::get<Object>(at(first, part).v), "tokens_per_second");
      const auto batch = static_cast<double>(std::get<std::int64_t>(at(first, "batch").v));
      const std::string each = shown(std::get<double>(rate.v) / batch, Show::tokens_per_second);
      CHECK(plan.lead.front().find(each) != std::string::npos);
    }
  }
}

TEST_CASE("a plan without a device says which command chooses one") {
  try {
    const char* argv[] = {"kv-plan", "plan", "llama-3.1-8b"};
    parse(3, argv);
    FAIL("it was accepted");
  } catch (const Error& e) {
    CHECK(e.advice.find("kv-plan devices --for llama-3.1-8b") != std::string::npos);
  }
}
