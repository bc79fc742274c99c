// SPDX-License-Identifier: Apache-2.0
// Expected times beside ceilings, by the profiles that ship with the program.
#include "cli/profiles.h"

#include <doctest/doctest.h>

#include <fstream>
#include <span>
#include <sstream>

#include "catalog/profile_file.h"
#include "catalog/scratch.h"
#include "cli/answer.h"
#include "cli/parse.h"
#include "plan/speed.h"
#include "report/document.h"
#include "report/grid.h"

using namespace kvplan;

namespace {

Request typed(std::vector<const char*> words) {
  words.insert(words.begin(), "kv-plan");
  return parse(static_cast<int>(words.size()), words.data());
}

Resolved resolved(const Catalog& catalog, const Request& request) {
  Resolved r = resolve(request, catalog, request.model, *request.device, "ideal");
  choose_profile(request, catalog, r);
  return r;
}

}  // namespace

TEST_CASE("every profile that ships is of a catalog device, with origin, licence and errors") {
  const Catalog catalog;
  const auto entries = catalog.entries("profiles");
  REQUIRE(entries.size() >= 2);
  for (const CatalogEntry& entry : entries) {
    const Profile profile = read_profile(parse_yaml(entry.text));
    CAPTURE(profile.device);
    CHECK(catalog.device(profile.device).name == profile.device);
    CHECK_FALSE(profile.origin.empty());
    CHECK_FALSE(profile.licence.empty());
    for (const Fit& fit : profile.fits) {
      REQUIRE(fit.left_out);
      CHECK(fit.left_out->coverage > 0.7);
    }
  }
}

TEST_CASE("expected rates never beat the ceiling, and their interval holds them") {
  const Catalog catalog;
  for (const char* device :
       {"h100-sxm", "a100-sxm-80gb", "h200-sxm", "b200", "gb300", "l40s", "rtx-pro-6000-server",
        "a100-pcie-40gb", "h20", "gh200-96gb", "rtx-4090", "rtx-5090"})
    for (const char* model :
         {"llama-3.1-8b", "llama-2-7b", "gemma-2-9b", "mixtral-8x7b", "gpt-oss-20b"}) {
      Resolved r = resolved(catalog, typed({"decode", model, device}));
      CAPTURE(device);
      CAPTURE(model);
      REQUIRE(r.setup.profile);
      std::vector<Load> loads;
      for (const std::int64_t context : {1, 500, 8000, 120000})
        for (const std::int64_t batch : {1, 7, 300}) loads.push_back({Tokens(context), batch});
      for (const DecodeRow& row : decode_answer(r.setup, loads).rows) {
        if (!row.expected.time) continue;
        CHECK(row.expected.time->low >= *row.step.seconds);
        CHECK(row.expected.time->value >= row.expected.time->low);
        CHECK(row.expected.time->high >= row.expected.time->value);
      }
      for (const PrefillRow& row : prefill_answer(r.setup, loads)) {
        if (!row.expected.time) continue;
        CHECK(row.expected.time->low >= *row.prefill.seconds);
        CHECK(row.expected.time->high >= row.expected.time->value);
      }
    }
}

TEST_CASE("a device's own profile is used as it is, a sibling's scaled and with a warning") {
  const Catalog catalog;
  const Resolved own = resolved(catalog, typed({"decode", "llama-3.1-8b", "h100-sxm"}));
  CHECK(own.setup.profile->device == "h100-sxm");
  CHECK(own.warnings.empty());
  const Resolved sibling = resolved(catalog, typed({"decode", "llama-3.1-8b", "h20"}));
  REQUIRE(sibling.setup.profile);
  CHECK(sibling.setup.profile->device == "h20");
  REQUIRE(sibling.warnings.size() == 1);
  CHECK(sibling.warnings[0].code == "profile-scaled");
}

// Of the H100 (3.35 TB/s) and the H200 (4.8 TB/s).
TEST_CASE("of several siblings the one whose memory is most alike gives its profile") {
  const Catalog catalog;
  const auto origin_of = [&](const char* device) {
    const Resolved r = resolved(catalog, typed({"decode", "llama-3.1-8b", device}));
    REQUIRE_FALSE(r.warnings.empty());
    return r.warnings.front().message;
  };
  CHECK(origin_of("gh200-144gb").find("profile of h200-sxm") != std::string::npos);
  CHECK(origin_of("h200-nvl").find("profile of h200-sxm") != std::string::npos);
  CHECK(origin_of("h100-pcie").find("profile of h100-sxm") != std::string::npos);
  CHECK(origin_of("rtx-5090").find("profile of rtx-pro-6000-server") != std::string::npos);
  CHECK(origin_of("rtx-4090").find("profile of l40s") != std::string::npos);
}

TEST_CASE("experts in the formats of DeepSeek, gpt-oss and Qwen have expected rates") {
  const Catalog catalog;
  for (const auto& [model, device] :
       {std::pair{"deepseek-v3", "8xh200-sxm"}, std::pair{"gpt-oss-120b", "h100-sxm"},
        std::pair{"qwen3-235b-a22b", "8xb200"}, std::pair{"gpt-oss-120b", "b200"}}) {
    CAPTURE(model);
    CAPTURE(device);
    Resolved r = resolved(catalog, typed({"decode", model, device}));
    REQUIRE(r.setup.profile);
    const std::vector<Load> loads = {{Tokens(4096), 1}, {Tokens(4096), 64}};
    for (const DecodeRow& row : decode_answer(r.setup, loads).rows) {
      CAPTURE(row.expected.why_not);
      REQUIRE(row.expected.time);
      CHECK(row.expected.time->low >= *row.step.seconds);
      CHECK(row.expected.time->value.v < 10 * row.step.seconds->v);
    }
  }
}

// The H20 has the H100's memory and a seventh of its arithmetic: one row still streams.
TEST_CASE("steps of one sequence stay near memory where a sibling has less arithmetic") {
  const Catalog catalog;
  const Resolved r = resolved(catalog, typed({"decode", "llama-3.1-8b", "h20"}));
  const std::vector<Load> loads = {{Tokens(4096), 1}};
  const auto rows = decode_answer(r.setup, loads).rows;
  REQUIRE(rows.front().expected.time);
  CHECK(rows.front().expected.time->value.v < 2 * rows.front().step.seconds->v);
}

TEST_CASE("no profile is used where none was measured nearby, or none is wanted") {
  const Catalog catalog;
  CHECK_FALSE(resolved(catalog, typed({"decode", "llama-3.1-8b", "rtx-3090"})).setup.profile);
  CHECK_FALSE(resolved(catalog, typed({"decode", "llama-3.1-8b", "h100-sxm", "--profile", "none"}))
                  .setup.profile);
  CHECK_THROWS_AS(
      resolved(catalog, typed({"decode", "llama-3.1-8b", "h100-sxm", "--profile", "nothing"})),
      Error);
}

TEST_CASE("the answer has expected rates where a profile applies, and says why where not") {
  const Catalog catalog;
  const Answer with = answer_decode(typed({"decode", "llama-3.1-8b", "h100-sxm"}), catalog);
  const Table& table = with.document.tables.front();
  const auto rows = rows_of(with.document, table);
  const Value* rate = find(*rows.front(), "expected.tokens_per_second");
  REQUIRE(rate);
  CHECK(std::get<double>(rate->v) > 100);
  const Answer without = answer_decode(
      typed({"decode", "llama-3.1-8b", "h100-sxm", "--weights", "int4-g128"}), catalog);
  const auto& notes = without.document.tables.front().notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("no fit for products with int4-g128") != note.npos;
  }));
}

TEST_CASE("beside an expected rate of processors stands what llama.cpp reached of such") {
  std::ifstream in(KVPLAN_SOURCE_DIR "/configs/profiles/h100-sxm.yaml");
  std::stringstream text;
  text << in.rdbuf();
  std::string profile = text.str();
  profile.replace(profile.find("\"h100-sxm\""), 10, "\"epyc-9654\"");
  const testing::Scratch scratch;
  const std::string path = scratch.write("profile.yaml", profile);
  const Catalog catalog;
  const auto notes = [&](const char* engine) {
    const Answer answer =
        answer_decode(typed({"decode", "llama-3.1-8b", "epyc-9654", "--weights", "bf16", "--engine",
                             engine, "--profile", path.c_str()}),
                      catalog);
    std::string all;
    for (const std::string& note : answer.document.tables.front().notes) all += note;
    return all;
  };
  CHECK(notes("llama.cpp").find("llama.cpp reached") != std::string::npos);
  CHECK(notes("vllm").find("llama.cpp reached") == std::string::npos);
}

TEST_CASE("what llama.cpp runs is expected by published runs, and other weights by a profile") {
  const Catalog catalog("");
  const auto first = [&](std::vector<const char*> words) {
    const Resolved r = resolved(catalog, typed(std::move(words)));
    const Load load{Tokens(4096), 1};
    return decode_answer(r.setup, std::span(&load, 1)).rows.front();
  };
  for (const char* device : {"rtx-4090", "rtx-3060-12gb", "m4-max", "rx-7900-xtx", "arc-b580"}) {
    CAPTURE(device);
    const DecodeRow row = first({"decode", "qwen3-8b", device, "--weights", "q4_k_m"});
    REQUIRE(row.expected.time);
    CHECK(row.expected.rests_on.find("llama.cpp") != std::string::npos);
    CHECK(row.expected.time->low >= *row.step.seconds);
  }
  const DecodeRow plain = first({"decode", "qwen3-8b", "h100-sxm", "--engine", "vllm"});
  REQUIRE(plain.expected.time);
  CHECK(plain.expected.rests_on.empty());
}

TEST_CASE("models that run on a card have the speed that published runs let expect") {
  const Catalog catalog("");
  const Answer answer =
      answer_models(typed({"models", "llama-3.2-3b", "--on", "rtx-4090"}), catalog);
  const std::string json = render(answer.document, OutputFormat::json);
  CHECK(json.find("\"expected\"") != std::string::npos);
  CHECK(json.find("\"low\"") != std::string::npos);
}
