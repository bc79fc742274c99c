// SPDX-License-Identifier: Apache-2.0
// kv-plan check on the logs of tests/logs/examples.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catalog/scratch.h"
#include "cli/answer.h"
#include "cli/from_log.h"
#include "cli/parse.h"
#include "engine/options.h"
#include "golden.h"
#include "logs/read.h"
#include "plan/check.h"
#include "plan/remedy.h"
#include "report/grid.h"

using namespace kvplan;

namespace {

const std::string kExamples = KVPLAN_SOURCE_DIR "/tests/logs/examples/";

Answer checked(const std::string& file, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"kv-plan", "check", file};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const Catalog catalog;
  return answer_check(parse(static_cast<int>(argv.size()), argv.data()), catalog);
}
Answer example(const std::string& name, std::vector<std::string> more = {}) {
  return checked(kExamples + name + ".log", std::move(more));
}

std::string text_of(const Answer& answer) {
  return render(answer.document, OutputFormat::table, {100, false, ""});
}
std::string reasons_of(const Answer& answer) {
  std::string all;
  for (const Object* row : rows_of(answer.document, answer.document.tables.front()))
    all += std::get<std::string>(find(*row, "reason")->v) + "\n";
  return all;
}
bool agrees(const Answer& answer) {
  return std::get<bool>(find(answer.document.body, "check.agrees")->v);
}

}  // namespace

// vllm#10517, noonghunna/club-3090#104 (Qwen3.6-27B has the layers of Qwen3.5-27B), vllm#21348,
// TensorRT-LLM#2268 (the caches of Qwen1.5-7B and Llama-2-7B are alike), llama.cpp with
// gpt-oss-20b.
TEST_CASE("public starts agree with what is predicted from their own lines") {
  CHECK(example("vllm-0.6.4-llama-3.1-8b").status == 0);
  CHECK(example("vllm-0.21-qwen3.6-27b-tp2").status == 0);  // by its alias
  CHECK(example("sglang-qwen3-235b-tp4").status == 0);
  CHECK(example("trtllm-qwen1.5-7b", {"llama-2-7b"}).status == 0);
  CHECK(example("llamacpp-gpt-oss-20b").status == 0);
}

// Public logs of vLLM 0.31.0 and of llama.cpp b10809 (Qwen3.8-27B has the layers of Qwen3.5-27B).
TEST_CASE("newer forms of the same lines are read") {
  CHECK(example("vllm-0.31-llama-3.1-8b").status == 0);
  CHECK(example("llamacpp-qwen3.8-27b-mtp", {"qwen3.5-27b"}).status == 0);
}

TEST_CASE("sizes of a step that explain the activations are named") {
  const Answer answer = example("vllm-0.31-llama-3.1-8b", {"--set", "max_num_seqs=16", "--set",
                                                           "max_num_batched_tokens=512"});
  CHECK(answer.status == 1);
  CHECK(reasons_of(answer).find("comes out with --set max_num_seqs=") != std::string::npos);
}

TEST_CASE("a start is shown line by line") {
  CHECK(golden_difference("check-vllm.txt", text_of(example("vllm-0.6.4-llama-3.1-8b"))) == "");
}

TEST_CASE("a refusal is shown with its cause and what would let the engine start") {
  const Answer answer = example("vllm-0.10-refused");
  CHECK(answer.status == 1);
  CHECK(agrees(answer));  // with what was predicted: 122,080 tokens and 10.12 GiB
  CHECK(golden_difference("check-refused.txt", text_of(answer)) == "");
}

TEST_CASE("the engine's own estimate of the longest request is named") {
  CHECK(text_of(example("vllm-0.10-refused")).find("--max-model-len 122080") != std::string::npos);
}

TEST_CASE("a difference is explained by the option under which it goes away") {
  const Answer answer = example("vllm-0.21-qwen3.6-27b-tp2", {"qwen3.5-27b", "--kv", "bf16"});
  CHECK(answer.status == 1);
  CHECK(reasons_of(answer).find("--kv fp8") != std::string::npos);
  const Answer alone = example("vllm-0.21-qwen3.6-27b-tp2", {"qwen3.5-27b", "--tp", "1"});
  CHECK(reasons_of(alone).find("--tp 2") != std::string::npos);
}

TEST_CASE("every change that a refusal is answered with is a real evaluation") {
  const Answer answer = example("vllm-0.10-refused", {"h100-sxm"});
  const Value* changes = find(answer.document.body, "check.refusal.changes");
  REQUIRE(changes);
  const Array& rows = std::get<Array>(changes->v);
  REQUIRE(rows.size() >= 3);
  bool fits_before = true;
  for (const Value& row : rows) {
    const Object& change = std::get<Object>(row.v);
    const bool fits = std::get<bool>(find(change, "fits")->v);
    CHECK(fits_before >= fits);  // those that fit come first
    fits_before = fits;
    CHECK(std::get<std::int64_t>(find(change, "longest")->v) <= 221000);
  }
}

TEST_CASE("SGLang's fraction is raised until one request of full length fits") {
  // (0.80 - 0.77) x 78.5 GiB more than the 17.40 - 0.23 x 78.5 GiB that were left; a request of
  // 8,192 tokens needs 2 GiB: 64 layers x 8 heads x 128 x 2 x 2 B = 256 KiB per token.
  const std::string text = text_of(example("sglang-refused", {"h100-sxm"}));
  CHECK(text.find("--mem-fraction-static 0.8") != std::string::npos);
}

TEST_CASE("a model is understood from the metadata that llama.cpp lists") {
  const std::string text = text_of(example("llamacpp-out-of-memory"));
  CHECK(text.find("An allocation of 16.0 GiB on device 0 failed") != std::string::npos);
  CHECK(text.find("--cache-type-k/-v q8_0") != std::string::npos);
  CHECK(text.find("--ctx-size") != std::string::npos);
  // 14,315 MiB of weights and 16,384 MiB of cache in 33 layers are 930 MiB each, and 23,800 MiB
  // were free, 258 of which the logits and hidden rows of 512 tokens take: 25 layers.
  CHECK(text.find("--n-gpu-layers 25") != std::string::npos);
}

TEST_CASE("what the log lacks is named with the option that supplies it") {
  const std::string text = text_of(example("sglang-qwen3-235b-tp4"));
  CHECK(text.find("Say it with --kv-pool SIZE") != std::string::npos);
  CHECK(text.find("Say it with DEVICE") != std::string::npos);
  CHECK_THROWS_WITH(example("trtllm-qwen1.5-7b"), "the log does not name its model");
  std::ifstream known(kExamples + "vllm-0.21-qwen3.6-27b-tp2.log");
  std::string log((std::istreambuf_iterator<char>(known)), std::istreambuf_iterator<char>());
  for (std::size_t at; (at = log.find("Qwen3.6-27B")) != log.npos;)
    log.replace(at, 11, "Nobodys-9");
  const testing::Scratch scratch;
  CHECK_THROWS_WITH(checked(scratch.write("unknown.log", log)),
                    doctest::Contains("is not in the catalog"));
  CHECK_THROWS_AS(checked(KVPLAN_SOURCE_DIR "/LICENSE"), Error);
  CHECK_THROWS_AS(checked(kExamples + "no-such-file"), Error);
}

TEST_CASE("a device may stand alone after a log that names its model") {
  const Answer answer = example("vllm-0.10-refused", {"rtx-5090"});
  CHECK(answer.document.title.find("5090") != std::string::npos);
}

TEST_CASE("models are found behind paths, hub caches and file types") {
  const auto among = [](const char* path, const std::string& wanted) {
    const auto names = names_for(path);
    return std::count(names.begin(), names.end(), wanted) > 0;
  };
  CHECK(among("/m/models--meta-llama--Llama-3.1-8B-Instruct/snapshots/0e9e39f",
              "meta-llama/Llama-3.1-8B-Instruct"));
  CHECK(among("/models/gpt-oss-20b-mxfp4.gguf", "gpt-oss-20b"));
  CHECK(among("/data/models-hf/Qwen2.5-0.5B/", "Qwen2.5-0.5B"));
  CHECK_FALSE(among("Qwen3-30B-A3B", "Qwen3"));  // another size is another model
  CHECK(names_for("////").size() == 2);
}

TEST_CASE("ranks with less memory are named where they may explain fewer tokens") {
  std::istringstream in(
      "INFO vLLM API server version 0.10.0\n"
      "INFO non-default args: {'model': 'Qwen/Qwen3-235B-A22B-FP8', 'tensor_parallel_size': 4}\n"
      "(VllmWorker rank=0) INFO Available KV cache memory: 8.20 GiB\n"
      "INFO GPU KV cache size: 178,881 tokens\n");
  const StartLog log = read_log(in, test::shipped_engines());
  Setup setup;
  const Catalog catalog;
  setup.model = catalog.model("qwen3-235b-a22b-fp8");
  setup.deployment.parallel.tp = 4;
  setup.engine = test::engine_options("vllm@0.10.0");
  setup.engine.max_model_len = Tokens(40960);
  const Check found = check(setup, log);
  REQUIRE_FALSE(found.agrees());
  CHECK(found.lines.back().reason.find("another rank") != std::string::npos);
}

TEST_CASE("hostile logs are answered or refused, whatever model they meet") {
  for (const auto& entry :
       std::filesystem::directory_iterator(KVPLAN_SOURCE_DIR "/tests/logs/hostile")) {
    CAPTURE(entry.path().string());
    for (const char* model : {"llama-3.1-8b", "gpt-oss-20b"}) try {
        text_of(checked(entry.path().string(), {model, "rtx-4090"}));
      } catch (const Error&) {
      }
  }
}
