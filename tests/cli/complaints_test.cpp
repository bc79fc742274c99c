// SPDX-License-Identifier: Apache-2.0
// What users of other estimators complained of, asked of this one. Shapes, loads and what was
// measured are theirs; caches of gguf-parser-go#28, #31 and lmstudio-bug-tracker#1862 are in
// tests/truth/gguf_logs.yaml.
#include <doctest/doctest.h>

#include "cli/answer.h"
#include "cli/parse.h"
#include "report/grid.h"

using namespace kvplan;

namespace {

Request typed(std::vector<const char*> words) {
  words.insert(words.begin(), "kv-plan");
  return parse(static_cast<int>(words.size()), words.data());
}

template <class T>
T at(const Answer& answer, std::string_view path) {
  const Value* v = find(answer.document.body, path);
  REQUIRE(v);
  return std::get<T>(v->v);
}

const Object& first_row(const Answer& answer, std::string_view path) {
  return std::get<Object>(std::get<Array>(find(answer.document.body, path)->v).front().v);
}

template <class T>
T in(const Object& object, std::string_view path) {
  const Value* v = find(object, path);
  REQUIRE(v);
  return std::get<T>(v->v);
}

}  // namespace

// ollama/ollama#10128: 52 GB were estimated for Qwen2.5-7B-1M in Q4_K_M with 262,144 tokens in
// q8_0; 6,097 + 5,419 MiB were used, less than one Tesla P40 has.
TEST_CASE("a quantised cache counts as what it is") {
  const Catalog catalog;
  const Answer plan =
      answer_plan(typed({"plan", "qwen2.5-7b", "p40", "--engine", "ollama", "--weights", "q4_k_m",
                         "--kv", "q8_0", "--context", "256k", "--max-model-len", "256k"}),
                  catalog);
  CHECK(plan.status == 0);
  const Answer kv = answer_kv(typed({"kv", "qwen2.5-7b", "--engine", "ollama", "--weights",
                                     "q4_k_m", "--kv", "q8_0", "--context", "256k"}),
                              catalog);
  const auto cache = in<std::int64_t>(first_row(kv, "kv.rows"), "bytes");
  // 28 layers x 4 heads x (128 + 128) numbers of 34 bytes for 32.
  CHECK(cache == 28LL * 4 * 256 * 34 / 32 * 262'144);
  CHECK(cache + at<std::int64_t>(kv, "model.weights.resident_bytes") < 12'500 * kMiB);
}

// docs/faq of ollama/ollama: `ollama run llama3.1:8b` fetches 4 bits, and runs on 12 GB.
TEST_CASE("Ollama's tag without a file type is the one that Ollama fetches") {
  const Catalog catalog;
  const Answer plan =
      answer_plan(typed({"plan", "llama3.1:8b", "rtx-3060-12gb", "--engine", "ollama"}), catalog);
  CHECK(plan.status == 0);
  CHECK(at<std::string>(plan, "model.weights.recipe") == "q4_k_m");
  const Answer asked = answer_plan(typed({"plan", "llama3.1:8b-instruct-q8_0", "rtx-3060-12gb",
                                          "--engine", "ollama", "--context", "4k"}),
                                   catalog);
  CHECK(at<std::string>(asked, "model.weights.recipe") == "config");
  CHECK(at<std::int64_t>(asked, "model.weights.resident_bytes") > 8'030'261'248);
  CHECK(asked.status == 0);
}

TEST_CASE("a computer that joins no others is offered formats, not more of itself") {
  const Catalog catalog;
  // 756 GiB in 16 bits; 512 GiB of which Metal gives three quarters.
  const Answer plan = answer_plan(typed({"plan", "llama-3.1-405b", "m3-ultra-80c"}), catalog);
  CHECK(plan.status == 1);
  CHECK(at<std::string>(plan, "deployment.engine") == "llama.cpp");
  const std::string& lead = plan.document.lead.front();
  CHECK(lead.find("Weights in q6_k would do.") != std::string::npos);
  for (const Value& lever : at<Array>(plan, "plan.levers"))
    CHECK(in<std::string>(std::get<Object>(lever.v), "name") != "twice the GPUs");
  const Answer card = answer_plan(typed({"plan", "gemma-3-12b", "rx-7900-xtx"}), catalog);
  CHECK(card.document.lead.front().ends_with("2 such GPUs would do (TP2), or weights in fp8."));
}

TEST_CASE("on a processor the whole file counts, token table too, and no driver") {
  const Catalog catalog;
  const Answer plan =
      answer_plan(typed({"plan", "llama-3.1-8b", "ryzen-9-9950x", "--weights", "q4_k_m"}), catalog);
  // What bartowski/Meta-Llama-3.1-8B-Instruct-GGUF stores: 4,920,734,272 bytes with 7 MiB of
  // header.
  const auto weights = at<std::int64_t>(plan, "budget.weights_bytes");
  CHECK(weights > 4'905'000'000);
  CHECK(weights < 4'920'734'272);
  CHECK(at<std::int64_t>(plan, "budget.non_torch_bytes") == 0);
}

TEST_CASE("a model whose layers all have windows keeps no more than they hold") {
  const Catalog catalog;
  CHECK(answer_kv(typed({"kv", "mistral-7b-v0.1"}), catalog).document.lead.front() ==
        "mistral-7b-v0.1 (GQA-8 + window) keeps 128 KiB of cache per token at bf16, at most 512 "
        "MiB per sequence: no layer looks back further than 4,096 tokens.");
  // Its window of 262,144 tokens is longer than what it was made for.
  CHECK(answer_kv(typed({"kv", "phi-3.5-mini"}), catalog).document.lead.front() ==
        "phi-3-mini-128k (MHA + window) keeps 384 KiB of cache per token at bf16.");
}

// AlexsJones/llmfit#474: 34.7 tokens/s were estimated for Qwen3.5-35B-A3B in 2 bits on an RX 6900
// XT as if each read every expert; 77.6 were measured.
TEST_CASE("a step reads the experts that it chooses, not all of them") {
  const Catalog catalog;
  const Answer decode = answer_decode(typed({"decode", "qwen3.5-35b-a3b", "rx-6900-xt", "--weights",
                                             "q2_k", "--context", "512", "--batch", "1"}),
                                      catalog);
  const Object& row = first_row(decode, "decode.rows");
  CHECK(in<double>(row, "ceiling.tokens_per_second") > 77.6);
  CHECK(in<std::int64_t>(row, "weight_bytes") * 8 <
        at<std::int64_t>(decode, "model.weights.resident_bytes"));
}

// AlexsJones/llmfit#230, #497: Qwen3.5-122B-A10B was said to fit into 33 GB, as if only the experts
// of one token were loaded; DeepSeek-V3 into 22 GB.
TEST_CASE("all experts are loaded, whatever a token chooses") {
  const Catalog catalog;
  const Answer kv =
      answer_kv(typed({"kv", "deepseek-v3", "--weights", "q4_k_m", "--context", "4k"}), catalog);
  CHECK(at<std::int64_t>(kv, "model.weights.resident_bytes") > 370 * kGiB);
  const Answer plan =
      answer_plan(typed({"plan", "deepseek-v3", "rtx-4090", "--weights", "q4_k_m"}), catalog);
  CHECK(plan.status == 1);
}
