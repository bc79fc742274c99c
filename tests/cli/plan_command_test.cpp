// SPDX-License-Identifier: Apache-2.0
// The line that a plan prints, read back by --engine-command, is the same plan.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/parse.h"
#include "report/numbers.h"

using namespace kvplan;

namespace {

using Words = std::vector<std::string>;

Document plan(Words words) {
  words.insert(words.begin(), {"kv-plan", "plan"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return answer_plan(parse(static_cast<int>(argv.size()), argv.data()), Catalog("")).document;
}

const Value& at(const Object& object, std::string_view key) {
  for (const Member& member : object)
    if (member.key == key) return member.value;
  FAIL("no ", key);
  return object.front().value;
}

std::string text(const Value& value) {
  if (const auto* list = std::get_if<Array>(&value.v)) {
    std::string all = "[";
    for (const Value& item : *list) all += text(item) + " ";
    return all + "]";
  }
  if (const auto* object = std::get_if<Object>(&value.v)) {
    std::string all = "{";
    for (const Member& member : *object) all += member.key + ":" + text(member.value) + " ";
    return all + "}";
  }
  return shown(value);
}

std::string line_of(const Document& document) {
  return std::get<std::string>(at(std::get<Object>(at(document.body, "plan").v), "command_line").v);
}

}  // namespace

TEST_CASE("the line that a plan prints is the same plan when it is read back") {
  const struct {
    Words question;  // model and device first
    Words layout_and_engine;
  } cases[] = {
      {{"llama-3.1-8b", "rtx-4090"}, {}},
      {{"llama-3.1-8b", "h100-sxm", "--users", "40", "--context", "4k"}, {"--kv", "fp8"}},
      {{"llama-3.1-70b", "8xh100-sxm", "--users", "16"}, {"--tp", "4", "--pp", "2"}},
      {{"llama-3.1-70b", "h100-sxm"}, {"--weights", "fp8"}},
      {{"deepseek-v3", "8xh200-sxm"}, {"--tp", "1", "--dp", "8", "--ep", "8"}},
      {{"gpt-oss-120b", "h100-sxm"}, {"--utilization", "0.95", "--set", "max_num_seqs=64"}},
      {{"qwen3-8b", "l40s"}, {"--engine", "sglang"}},
      {{"qwen3-8b", "l40s"}, {"--engine", "sglang", "--weights", "fp8", "--kv", "fp8"}},
      {{"deepseek-v3", "8xh200-sxm"},
       {"--engine", "sglang", "--tp", "1", "--dp", "8", "--ep", "8"}},
      {{"llama-3.1-8b", "l40s"},
       {"--engine", "trtllm", "--set", "kv_cache_config.tokens_per_block=64"}},
      {{"deepseek-v3", "8xh200-sxm"},
       {"--engine", "trtllm", "--tp", "1", "--dp", "8", "--ep", "8"}},
      {{"llama-3.1-8b", "rtx-4090", "--weights", "q4_k_m"}, {}},
      {{"llama-3.1-8b", "rtx-4090", "--weights", "q4_k_m", "--users", "4", "--context", "8k"},
       {"--kv", "q8_0"}},
  };
  for (const auto& c : cases) {
    Words first = c.question;
    first.insert(first.end(), c.layout_and_engine.begin(), c.layout_and_engine.end());
    CAPTURE(first.front());
    const Document said = plan(first);
    const std::string line = line_of(said);
    CAPTURE(line);
    Words second = c.question;
    second.insert(second.end(), {"--engine-command", line});
    const Document back = plan(second);
    CHECK(line_of(back) == line);
    const Object& before = std::get<Object>(at(said.body, "deployment").v);
    const Object& after = std::get<Object>(at(back.body, "deployment").v);
    for (const char* key : {"engine", "tp", "pp", "dp", "ep", "kv_format"})
      CHECK(text(at(before, key)) == text(at(after, key)));
    // llama.cpp is told one load; what else its memory could hold is no longer open, nor how large
    // its masks could be.
    const bool narrowed = line.starts_with("llama-server");
    for (const char* part : {"budget", "capacity"})
      if (!narrowed) CHECK(text(at(said.body, part)) == text(at(back.body, part)));
    if (!narrowed || c.question.size() > 4)
      CHECK(text(at(said.body, "decode")) == text(at(back.body, "decode")));
  }
}

TEST_CASE("a line names a length that its engine accepts, and only where it would refuse its own") {
  CHECK(line_of(plan({"llama-3.1-8b", "h100-sxm"})).find("--max-model-len 131072") !=
        std::string::npos);
  const Document tight = plan({"llama-3.1-8b", "rtx-4090"});
  CHECK(line_of(tight).find("--max-model-len 47552") != std::string::npos);
}

TEST_CASE("a load that memory holds and a setting does not is refused for the setting") {
  const Document refused =
      plan({"llama-3.1-8b", "h100-sxm", "--users", "8", "--set", "max_num_seqs=2"});
  CHECK(refused.lead.front().find("max_num_seqs = 2 lets no more in") != std::string::npos);
}

TEST_CASE("a version beyond the known ones is planned by the newest rules, and said to be") {
  const auto codes = [](const char* engine) {
    const std::vector<const char*> words = {"kv-plan", "sweep", "llama-3.1-8b", "h100-sxm",
                                            "--batch", "1",     "--engine",     engine};
    const Answer answer =
        answer_sweep(parse(static_cast<int>(words.size()), words.data()), Catalog(""));
    return std::count_if(answer.warnings.begin(), answer.warnings.end(),
                         [](const Warning& w) { return w.code == "newer-engine"; });
  };
  CHECK(codes("vllm@0.99") > 0);
  CHECK(codes("vllm@0.31") == 0);
  CHECK(codes("llama.cpp@b4567") == 0);
}

TEST_CASE("a pair that no layout divides costs a sweep that pair, and no more") {
  // 20 heads divide by five, 32 do not.
  const std::vector<const char*> words = {
      "kv-plan", "sweep", "gpt2-large", "llama-3.1-8b", "h100-sxm", "--tp", "5", "--batch", "1"};
  const Answer answer =
      answer_sweep(parse(static_cast<int>(words.size()), words.data()), Catalog(""));
  CHECK(std::any_of(answer.warnings.begin(), answer.warnings.end(), [](const Warning& w) {
    return w.code == "left-out" && w.message.find("llama-3.1-8b") != std::string::npos;
  }));
  CHECK(text(at(answer.document.body, "sweep")).find("gpt2-large") != std::string::npos);
}

TEST_CASE("a plan takes one load: a list is refused, never cut to its first item") {
  CHECK_THROWS_AS(plan({"llama-3.1-8b", "rtx-4090", "--context", "47,552"}), Error);
  CHECK_THROWS_AS(plan({"llama-3.1-8b", "rtx-4090", "--batch", "1,8"}), Error);
}

// vllm/v1/core/kv_cache_utils.py, _check_enough_kv_cache_memory: one request of max_model_len.
TEST_CASE("a length for which vLLM would refuse to start is a no, with the one that it accepts") {
  const auto lead = [](const char* length, const char* engine) {
    return plan({"llama-3.1-8b", "rtx-4090", "--max-model-len", length, "--engine", engine}).lead;
  };
  CHECK(lead("100000", "vllm").front().starts_with("No: vllm would refuse to start"));
  CHECK(lead("100000", "vllm").front().find("at most 47,552 tokens") != std::string::npos);
  CHECK(lead("47552", "vllm").front().starts_with("Yes"));
  CHECK(lead("100000", "sglang").front().starts_with("Yes"));  // it shortens the request
  const Document refused = plan({"llama-3.1-8b", "rtx-4090", "--max-model-len", "100000"});
  const std::string command =
      text(at(std::get<Object>(at(refused.body, "plan").v), "command_line"));
  CHECK(command.find("--max-model-len 47552") != std::string::npos);
}

TEST_CASE("weights known by the size of their file are planned with llama.cpp, and assumed") {
  const Document document = plan({"qwen3-32b", "rtx-3090", "--weights", "20.0GB"});
  CHECK(text(at(std::get<Object>(at(document.body, "deployment").v), "engine")) == "llama.cpp");
  const auto& budget = std::get<Object>(at(document.body, "budget").v);
  // Less by the token table, of 151,936 x 5,120 of the model's 32.76 G parameters, which stays out.
  const auto bytes = static_cast<double>(std::get<std::int64_t>(at(budget, "weights_bytes").v));
  CHECK(bytes == doctest::Approx(20.0e9 * (1 - 0.7779 / 32.76)).epsilon(0.001));
  const std::string command =
      text(at(std::get<Object>(at(document.body, "plan").v), "command_line"));
  CHECK(command.find("-m qwen3-32b.gguf") != std::string::npos);
  CHECK_THROWS_WITH(plan({"qwen3-32b", "rtx-3090", "--weights", "20"}),
                    doctest::Contains("has no unit"));
}

TEST_CASE("a tag of Ollama's library is planned with Ollama, in the format that it pulls") {
  const struct {
    Words question;
    const char *engine, *recipe;
  } cases[] = {
      {{"llama3.1:8b", "rtx-4090"}, "ollama", "q4_k_m"},
      {{"deepseek-r1:671b", "8xh200-sxm"}, "ollama", "q4_k_m"},  // the checkpoint is in fp8
      {{"gpt-oss:20b", "rtx-4090"}, "ollama", "config"},         // MXFP4 stays
      {{"llama3.1:8b", "rtx-4090", "--weights", "q6_k"}, "ollama", "q6_k"},
      {{"llama3.1:8b", "rtx-4090", "--weights", "fp8"}, "vllm", "fp8"},
      {{"llama3.1:8b", "rtx-4090", "--engine", "vllm"}, "vllm", "config"},
      {{"llama-3.1-8b", "rtx-4090"}, "vllm", "config"},
      {{"bartowski/Qwen3-32B-GGUF:IQ4_XS", "rtx-4090"}, "llama.cpp", "config"},
      {{"google/gemma-3-27b-it-qat", "rtx-4090"}, "llama.cpp", "config"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.question.front());
    const Document document = plan(c.question);
    const auto& deployment = std::get<Object>(at(document.body, "deployment").v);
    const auto& model = std::get<Object>(at(document.body, "model").v);
    const auto& weights = std::get<Object>(at(model, "weights").v);
    CHECK(text(at(deployment, "engine")) == c.engine);
    CHECK(text(at(weights, "recipe")) == c.recipe);
  }
}
