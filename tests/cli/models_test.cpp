// SPDX-License-Identifier: Apache-2.0
// kv-plan models --on DEVICE: what was asked of length, format and cache is what is listed.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cli/answer.h"
#include "cli/parse.h"
#include "report/grid.h"

using namespace kvplan;

namespace {

Answer run(std::vector<const char*> words) {
  words.insert(words.begin(), {"kv-plan", "models"});
  return answer_models(parse(static_cast<int>(words.size()), words.data()), Catalog(""));
}

template <class T>
T got(const Object& object, std::string_view key) {
  const Value* found = find(object, key);
  REQUIRE(found);
  return std::get<T>(found->v);
}

struct Row {
  std::string recipe;
  std::int64_t longest = 0;
};

std::map<std::string, Row> listed(std::vector<const char*> words) {
  const Answer answer = run(std::move(words));
  std::map<std::string, Row> rows;
  for (const Value& v : got<Array>(answer.document.body, "models")) {
    const Object& row = std::get<Object>(v.v);
    rows[got<std::string>(row, "name")] = {got<std::string>(row, "recipe"),
                                           got<std::int64_t>(row, "longest")};
  }
  return rows;
}

}  // namespace

TEST_CASE("models on a device are in the widest format that leaves room for the asked length") {
  const auto usual = listed({"qwen3-14b", "--on", "rtx-3060-12gb"}),
             longer = listed({"qwen3-14b", "--on", "rtx-3060-12gb", "--context", "16k"});
  CHECK(usual.at("qwen3-14b").longest >= 2048);
  CHECK(usual.at("qwen3-14b").longest < 16384);
  CHECK(longer.at("qwen3-14b").longest >= 16384);
  CHECK(longer.at("qwen3-14b").recipe == "q4_k_m");
}

TEST_CASE("models on a device are in the asked format, and only those made for the asked length") {
  const auto rows =
      listed({"llama", "--on", "rtx-4090", "--context", "16k", "--weights", "q4_k_m"});
  CHECK(rows.count("llama-3.1-8b") == 1);
  CHECK(rows.count("llama-3-8b") == 0);  // made for 8,192 tokens
  for (const auto& [name, row] : rows) CHECK(row.recipe == "q4_k_m");
}

TEST_CASE("8-bit caches of models on a device hold about twice the tokens") {
  const auto plain = listed({"llama-3.1-8b", "--on", "rtx-3060-12gb", "--weights", "fp8"}),
             small = listed(
                 {"llama-3.1-8b", "--on", "rtx-3060-12gb", "--weights", "fp8", "--kv", "fp8"});
  const double ratio = static_cast<double>(small.at("llama-3.1-8b").longest) /
                       static_cast<double>(plain.at("llama-3.1-8b").longest);
  CHECK(ratio == doctest::Approx(2).epsilon(0.01));
}

TEST_CASE("where no model runs the list says so and the status is no") {
  const Answer none = run({"405b", "--on", "rtx-3060-12gb"});
  CHECK(none.status == 1);
  CHECK(none.document.lead.front().starts_with("None of "));
}

TEST_CASE("a length, a format or a cache of models without a device is refused") {
  for (const std::vector<const char*>& words :
       {std::vector{"--context", "4k"}, {"--weights", "fp8"}, {"--kv", "fp8"}})
    CHECK_THROWS_WITH(run(words), doctest::Contains("of models on a device"));
  CHECK_THROWS_WITH(run({"--on", "rtx-4090", "--context", "4k,8k"}),
                    doctest::Contains("for one length"));
  CHECK_THROWS_WITH(run({"nothing-of-this-name"}), doctest::Contains("in its name"));
}
