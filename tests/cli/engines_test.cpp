// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "catalog/scratch.h"
#include "cli/answer.h"
#include "cli/parse.h"
#include "report/document.h"
#include "report/text.h"

using namespace kvplan;

namespace {

Request asked(std::vector<std::string> words) {
  words.insert(words.begin(), "kv-plan");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse(static_cast<int>(argv.size()), argv.data());
}

std::string planned(const std::string& catalog) {
  const Document document =
      answer_plan(asked({"plan", "llama-3.1-8b", "rtx-4090", "--engine", "vllm", "--kv", "fp8"}),
                  Catalog(catalog))
          .document;
  return render(document, OutputFormat::json);
}

}  // namespace

TEST_CASE("engines and the flags of each are listed in every format, within 100 columns") {
  const Catalog catalog;
  std::vector<std::vector<std::string>> questions{{"engines"}};
  for (const CatalogEntry& entry : catalog.entries("engines"))
    questions.push_back({"engines", entry.name});
  for (const auto& words : questions) {
    CAPTURE(words.back());
    const Document document = answer_engines(asked(words), catalog).document;
    for (const OutputFormat format :
         {OutputFormat::json, OutputFormat::csv, OutputFormat::markdown, OutputFormat::html})
      CHECK_FALSE(render(document, format).empty());
    std::string table = render(document, OutputFormat::table);
    while (!table.empty()) {
      const std::string line = table.substr(0, table.find('\n'));
      CHECK(display_width(line) <= 100);
      table.erase(0, line.size() + 1);
    }
  }
}

TEST_CASE("an engine's flags are listed with defaults, when they hold, and sources") {
  const std::string csv =
      render(answer_engines(asked({"engines", "vllm"}), Catalog()).document, OutputFormat::csv);
  CHECK(csv.find("gpu_memory_utilization,number,0.92,since 0.20,--utilization,vllm#38284") !=
        std::string::npos);
  CHECK_THROWS_AS(answer_engines(asked({"engines", "vlm"}), Catalog()), Error);
}

TEST_CASE("a changed default in a user's engine file changes the answer, and is named") {
  const kvplan::testing::Scratch scratch;
  std::filesystem::create_directories(scratch.path("engines"));
  scratch.write("engines/vllm.yaml",
                "name: vllm\nsource: our own image\nflags:\n"
                "  gpu_memory_utilization: {default: 0.95}\n");
  const std::string shipped = planned(""), changed = planned(scratch.folder());
  CHECK(shipped.find("\"utilization\": 0.92") != std::string::npos);
  CHECK(changed.find("\"utilization\": 0.95") != std::string::npos);
  CHECK(shipped.find("vllm#38284") != std::string::npos);
  CHECK(changed.find("our own image") != std::string::npos);
}
