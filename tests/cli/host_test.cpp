// SPDX-License-Identifier: Apache-2.0
#include "cli/host.h"

#include <doctest/doctest.h>

#include "cli/parse.h"
#include "report/grid.h"

using namespace kvplan;

namespace {

Request typed(std::vector<const char*> words) {
  words.insert(words.begin(), "kv-plan");
  return parse(static_cast<int>(words.size()), words.data());
}

Answer answered(const std::vector<const char*>& words) {
  const Catalog catalog;
  const Request request = typed(words);
  REQUIRE(is_on_parts(request, catalog));
  return answer_on_parts(request, catalog);
}

template <class T>
T at(const Answer& answer, std::string_view path) {
  const Value* v = find(answer.document.body, path);
  REQUIRE(v);
  return std::get<T>(v->v);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Error refusal(const std::vector<const char*>& words) {
  try {
    answered(words);
  } catch (const Error& e) {
    return e;
  }
  return Error("accepted");
}

}  // namespace

TEST_CASE("a plan on a GPU and its host says which flags make a large model run") {
  const Answer plan = answered({"plan", "gpt-oss-120b", "rtx-4090", "--host", "ryzen-9-9950x-64gb",
                                "--weights", "mxfp4_moe", "--context", "8k"});
  CHECK(plan.status == 0);
  CHECK(at<bool>(plan, "plan.fits"));
  const auto on_host = at<std::int64_t>(plan, "split.flags.n_cpu_moe");
  CHECK(on_host > 0);
  CHECK(on_host < 36);
  const auto line = at<std::string>(plan, "plan.command_line");
  CHECK(holds(line, "--n-gpu-layers 37"));
  CHECK(holds(line, "--n-cpu-moe " + std::to_string(on_host)));
  CHECK_FALSE(holds(line, "--no-kv-offload"));
}

TEST_CASE("a model larger than all memory does not fit, and the exit status says so") {
  const Answer plan = answered(
      {"plan", "deepseek-r1", "rtx-4090", "--host", "ryzen-9950x-64gb", "--weights", "q4_k_m"});
  CHECK(plan.status == 1);
  CHECK_FALSE(at<bool>(plan, "plan.fits"));
  CHECK(holds(plan.document.lead[0], ": it takes 38"));  // 376.7 GiB of weights, and the rest
  CHECK(holds(plan.document.lead[0], "the parts have 8"));
}

TEST_CASE("a sum of devices needs no host, and a CPU among them is one") {
  const Answer three =
      answered({"decode", "llama-3.1-70b", "rtx-4090+2xrtx-3090", "--weights", "q4_k_m"});
  CHECK(at<Array>(three, "machine.gpus").size() == 3);
  CHECK(at<Array>(three, "split.parts").size() == 4);
  const Answer with_host = answered({"decode", "qwen3-30b-a3b", "rtx-4090+ryzen-9950x"});
  CHECK(at<std::string>(with_host, "machine.host.name") == "ryzen-9950x");
}

TEST_CASE("the engine's own flags decide the split, in settings or in a whole line") {
  const Answer set = answered({"kv", "llama-3.1-8b", "--set", "n_gpu_layers=20"});
  CHECK(at<std::int64_t>(set, "split.flags.n_gpu_layers") == 20);
  const Answer line =
      answered({"decode", "qwen3-30b-a3b", "rtx-4090", "--host", "epyc-9654", "--engine-command",
                "llama-server -m model.gguf -ngl 99 -ncmoe 12 -nkvo -c 8192"});
  CHECK(at<std::int64_t>(line, "split.flags.n_gpu_layers") == 49);
  CHECK(at<std::int64_t>(line, "split.flags.n_cpu_moe") == 12);
  CHECK(at<bool>(line, "split.flags.no_kv_offload"));
}

TEST_CASE("equal GPUs without a host stay with the other answers") {
  const Catalog catalog;
  CHECK_FALSE(is_on_parts(typed({"decode", "llama-3.1-8b", "2xrtx-3090"}), catalog));
  CHECK_FALSE(is_on_parts(typed({"plan", "llama-3.1-8b", "xeon-8480+"}), catalog));
  CHECK_FALSE(is_on_parts(typed({"gqa", "llama-3.1-8b"}), catalog));
}

TEST_CASE("a step on parts is explained, and divided by what lies where") {
  const Answer decode = answered({"decode", "qwen3-235b-a22b", "rtx-4090+rtx-3090", "--host",
                                  "epyc-9654", "--weights", "q4_k_m", "--context", "4k", "--batch",
                                  "1", "--explain", "--breakdown"});
  CHECK(at<Array>(decode, "explain").size() >= 7);  // three memories, three turns, their sum
  std::int64_t bytes = 0;
  for (const Value& row : at<Array>(decode, "breakdown"))
    bytes += std::get<std::int64_t>(find(std::get<Object>(row.v), "bytes")->v);
  const Object row = std::get<Object>(at<Array>(decode, "decode.rows").front().v);
  const auto read = [&](const char* key) { return std::get<std::int64_t>(find(row, key)->v); };
  CHECK(bytes == read("gpu_bytes") + read("host_bytes"));
  const Answer prefill =
      answered({"prefill", "llama-3.1-8b", "rtx-4090+rtx-3090", "--explain", "--breakdown"});
  CHECK(at<Array>(prefill, "breakdown").size() > 4);
  CHECK(at<Array>(answered({"plan", "llama-3.1-8b", "rtx-4090+rtx-3090", "--explain"}), "explain")
            .size() > 3);
  CHECK(!at<Array>(answered({"kv", "llama-3.1-8b", "--set", "n_gpu_layers=9", "--explain"}),
                   "explain")
             .empty());
}

TEST_CASE("parts with a profile have an expected rate, slower than their law") {
  const Answer decode = answered(
      {"decode", "llama-3.1-70b", "h100-sxm+a100-sxm-80gb", "--context", "4k", "--batch", "1"});
  const Object row = std::get<Object>(at<Array>(decode, "decode.rows").front().v);
  const auto rate = [&](const char* path) { return std::get<double>(find(row, path)->v); };
  CHECK(rate("expected.tokens_per_second") < rate("in_turn.tokens_per_second"));
  CHECK(rate("expected.low") <= rate("expected.tokens_per_second"));
  const Answer without = answered({"decode", "llama-3.1-70b", "h100-sxm+a100-sxm-80gb", "--profile",
                                   "none", "--context", "4k", "--batch", "1"});
  const Object bare = std::get<Object>(at<Array>(without, "decode.rows").front().v);
  CHECK(std::holds_alternative<std::monostate>(find(bare, "expected")->v));
  CHECK(refusal({"decode", "llama-3.1-8b", "rtx-4090+rtx-3090", "--profile", "h100-sxm"}).key ==
        "--profile");
}

TEST_CASE("this machine is a host, or a part beside others") {
  CHECK(
      at<Object>(answered({"plan", "llama-3.1-8b", "rtx-4090", "--host", "local"}), "machine.host")
          .size() > 3);
  CHECK(at<Object>(answered({"plan", "llama-3.1-8b", "local+rtx-4090"}), "machine.host").size() >
        3);
}

TEST_CASE("what does not go with parts is refused by name") {
  CHECK(refusal({"plan", "llama-3.1-8b", "m4-max", "--host", "ryzen-9950x"}).key == "--host");
  CHECK(refusal({"plan", "llama-3.1-8b", "rtx-4090", "--host", "rtx-3090"}).key == "--host");
  CHECK(refusal({"plan", "llama-3.1-8b", "epyc-9654", "--host", "ryzen-9950x"}).key == "--host");
  CHECK(refusal({"decode", "llama-3.1-8b", "rtx-4090+rtx-3090", "--engine", "vllm"}).key ==
        "--engine");
  CHECK(refusal({"decode", "llama-3.1-8b", "rtx-4090+rtx-3090", "--tp", "2"}).key ==
        "--gpus, --tp and their like");
}
