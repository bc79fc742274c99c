// SPDX-License-Identifier: Apache-2.0
// What the commands print fits a terminal of 100 columns.
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "cli/answer.h"
#include "cli/parse.h"
#include "report/render.h"
#include "report/text.h"

using namespace kvplan;

namespace {

// Of the longest line.
std::size_t width_of(const Document& document) {
  RenderOptions options;
  options.details = true;
  std::istringstream text(render(document, OutputFormat::table, options));
  std::size_t width = 0;
  for (std::string line; std::getline(text, line);) width = std::max(width, display_width(line));
  return width;
}

using Answers = Answer (*)(const Request&, const Catalog&);

}  // namespace

TEST_CASE("no table of a model on devices is wider than 100 columns") {
  const Catalog catalog;
  struct Case {
    Answers answer;
    std::vector<const char*> words;
  };
  for (const std::string model : {"deepseek-v3", "llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-27b"})
    for (const std::string device : {"8xh200-sxm", "2xh100-sxm", "rtx-4090"})
      for (const Case& c :
           {Case{answer_plan, {"plan", model.c_str(), device.c_str(), "--explain"}},
            Case{answer_decode, {"decode", model.c_str(), device.c_str(), "--breakdown"}},
            Case{answer_prefill, {"prefill", model.c_str(), device.c_str(), "--breakdown"}},
            Case{answer_kv, {"kv", model.c_str(), "--batch", "1,128"}},
            Case{answer_gqa, {"gqa", model.c_str(), device.c_str()}},
            Case{answer_sweep, {"sweep", model.c_str(), device.c_str()}}}) {
        std::vector<const char*> words{"kv-plan"};
        words.insert(words.end(), c.words.begin(), c.words.end());
        CAPTURE(model);
        CAPTURE(device);
        const std::string command = c.words.front();
        CAPTURE(command);
        const Request request = parse(static_cast<int>(words.size()), words.data());
        CHECK(width_of(c.answer(request, catalog).document) <= 100);
      }
}
