// SPDX-License-Identifier: Apache-2.0
#include "engine/command_line.h"

#include <doctest/doctest.h>

#include "engine/flags.h"
#include "engine/nested.h"
#include "engine/options.h"
#include "engine/shapes.h"
#include "engine/shell.h"

using namespace kvplan;
using namespace kvplan::test;

using Settings = std::map<std::string, std::string>;

namespace {

EngineCommand read_line(std::string_view line) { return parse_command(line, shipped_engines()); }

}  // namespace

TEST_CASE("words of a shell line keep what quotes and backslashes hold together") {
  const auto words = shell_words("a 'b c'  \"d \\\"e\\\"\" f\\ g \\\n  h''");
  CHECK(words == std::vector<std::string>{"a", "b c", "d \"e\"", "f g", "h"});
  CHECK_THROWS_AS(shell_words("a 'b"), Error);
  for (const char* word : {"plain", "it's", "a b", "{\"k\": 1}", "", "$HOME"})
    CHECK(shell_words(shell_quoted(word)) == std::vector<std::string>{word});
}

TEST_CASE("a JSON value is settings with dots, and back") {
  const Settings settings = settings_of_json(
      "s", R"({"method": "mtp", "n": 3, "on": true, "none": null, "deep": {"ids": [1, 2]}})");
  CHECK(settings ==
        Settings{{"s.method", "mtp"}, {"s.n", "3"}, {"s.on", "true"}, {"s.deep.ids", "1,2"}});
  CHECK(json_of_settings({{"method", "mtp"}, {"n", "3"}, {"deep.ids", "1,2"}}) ==
        R"({"method":"mtp","n":3,"deep":{"ids":[1,2]}})");
  for (const char* bad : {"", "{", "[1]", "{\"a\" 1}", "{\"a\":1} x", "{\"a\":}", "{'a':1}"})
    CHECK_THROWS_AS(settings_of_json("s", bad), Error);
  CHECK_THROWS_AS(settings_of_json("s", std::string(4000, '{')), Error);
}

TEST_CASE("vllm serve is read with its model, flags and nested flags") {
  const EngineCommand c = read_line(
      "vllm serve Qwen/Qwen3.5-27B --tensor-parallel-size 4 --max-model-len=32768 "
      "--speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":3}' "
      "--no-enable-prefix-caching --port 8000 --trust-remote-code");
  CHECK(c.options.name == "vllm");
  CHECK(c.model == "Qwen/Qwen3.5-27B");
  CHECK(c.options.settings == Settings{{"tensor_parallel_size", "4"},
                                       {"max_model_len", "32768"},
                                       {"speculative_config.method", "mtp"},
                                       {"speculative_config.num_speculative_tokens", "3"},
                                       {"enable_prefix_caching", "false"}});
  CHECK(c.warnings.empty());
}

TEST_CASE("vLLM's counts with a letter are decimal in lower case and binary in upper case") {
  const auto length = [](const std::string& text) {
    return read_line("vllm serve m --max-model-len " + text).options.settings.at("max_model_len");
  };
  CHECK(length("32k") == "32000");
  CHECK(length("32K") == "32768");
  CHECK(length("1M") == "1048576");
  CHECK(length("1.5k") == "1500");
}

TEST_CASE("what stands around the engine does not matter, the image's tag is the version") {
  const EngineCommand c = read_line(
      "CUDA_VISIBLE_DEVICES=0,1 docker run --gpus all -p 8000:8000 \\\n"
      "  vllm/vllm-openai:v0.21.0 --model meta-llama/Llama-3.1-8B -tp 2 2>&1 | tee log");
  CHECK(c.options.name == "vllm");
  CHECK(c.options.version == "v0.21.0");
  CHECK(c.model == "meta-llama/Llama-3.1-8B");
  CHECK(c.options.settings == Settings{{"tensor_parallel_size", "2"}});
  CHECK(read_line("docker run vllm/vllm-openai:latest --model m").options.version.empty());
  const EngineCommand module =
      read_line("python -m vllm.entrypoints.openai.api_server --model m -dp 2");
  CHECK(module.options.settings == Settings{{"data_parallel_size", "2"}});
}

TEST_CASE("llama-server is read with its short flags") {
  const EngineCommand c = read_line(
      "./build/bin/llama-server -m models/x.gguf -c 32768 -np 4 -fa -ctk q8_0 -ctv q8_0 "
      "--no-kv-unified -ub 1024 --host 0.0.0.0 --jinja");
  CHECK(c.options.name == "llama.cpp");
  CHECK(c.model == "models/x.gguf");
  CHECK(c.options.settings == Settings{{"ctx_size", "32768"},
                                       {"parallel", "4"},
                                       {"flash_attn", "on"},
                                       {"cache_type_k", "q8_0"},
                                       {"cache_type_v", "q8_0"},
                                       {"kv_unified", "false"},
                                       {"ubatch_size", "1024"}});
  CHECK(c.warnings.empty());
  CHECK(read_line("llama-server -hf ggml-org/x -fa off -no-kvu").options.settings ==
        Settings{{"flash_attn", "off"}, {"kv_unified", "false"}});
}

TEST_CASE("the other engines' lines are read") {
  const EngineCommand s = read_line(
      "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.2-Exp --tp 8 --dp 8 "
      "--enable-dp-attention --mem-fraction-static 0.85 --page-size=64");
  CHECK(s.options.name == "sglang");
  CHECK(s.model == "deepseek-ai/DeepSeek-V3.2-Exp");
  CHECK(s.options.settings == Settings{{"tp_size", "8"},
                                       {"dp_size", "8"},
                                       {"enable_dp_attention", "true"},
                                       {"mem_fraction_static", "0.85"},
                                       {"page_size", "64"}});
  const EngineCommand t = read_line(
      "trtllm-serve openai/gpt-oss-120b --tp_size 4 --kv_cache_free_gpu_memory_fraction 0.9");
  CHECK(t.options.name == "trtllm");
  CHECK(t.options.settings ==
        Settings{{"tp_size", "4"}, {"kv_cache_free_gpu_memory_fraction", "0.9"}});
  const EngineCommand o =
      read_line("OLLAMA_NUM_PARALLEL=4 OLLAMA_KV_CACHE_TYPE=q8_0 ollama run qwen3:8b");
  CHECK(o.options.name == "ollama");
  CHECK(o.model == "qwen3:8b");
  CHECK(o.options.settings == Settings{{"num_parallel", "4"}, {"kv_cache_type", "q8_0"}});
}

TEST_CASE("variables of llama-server's environment are its flags, which come first") {
  const EngineCommand c = read_line(
      "docker run -e LLAMA_ARG_CTX_SIZE=4096 -e LLAMA_ARG_N_PARALLEL=2 -e LLAMA_ARG_PORT=80 "
      "ghcr.io/ggml-org/llama.cpp:server-cuda -m m.gguf -np 8 -fitt 512,1024 --cache-ram 0");
  CHECK(c.options.settings ==
        Settings{{"ctx_size", "4096"}, {"parallel", "8"}, {"fit_target", "512,1024"}});
  REQUIRE(c.warnings.size() == 1);  // of --cache-ram: memory of the host
  CHECK(c.warnings[0].code == "flag-not-followed");
  const EngineCommand o = read_line("OLLAMA_SCHED_SPREAD=1 OLLAMA_DEBUG=1 ollama serve");
  REQUIRE(o.warnings.size() == 1);
  CHECK(o.warnings[0].message.starts_with("OLLAMA_SCHED_SPREAD "));
}

TEST_CASE("a flag that is not known is kept as a warning by name") {
  const EngineCommand c = read_line(
      "vllm serve m --a-new-flag 3 --another --max-num-seqs 8 "
      "--speculative-config '{\"method\":\"mtp\",\"color\":\"red\"}'");
  REQUIRE(c.warnings.size() == 3);
  CHECK(c.warnings[0].code == "unknown-flag");
  CHECK(c.warnings[0].message.starts_with("--a-new-flag "));
  CHECK(c.warnings[1].message.starts_with("--another "));
  CHECK(c.warnings[2].message.starts_with("speculative_config.color "));
  CHECK(c.model == "m");
  CHECK(c.options.settings.at("max_num_seqs") == "8");
}

TEST_CASE("a line that starts no engine, or gives a flag no value, is refused") {
  for (const char* line : {"", "ls -l", "vllm bench m", "vllm serve m --max-num-seqs",
                           "vllm serve m --max-num-seqs many", "vllm serve 'm",
                           "vllm serve m --speculative-config mtp"}) {
    CAPTURE(line);
    CHECK_THROWS_AS(read_line(line), Error);
  }
}

TEST_CASE("the line to run leaves out what is at its default") {
  EngineOptions options = engine_options("vllm");
  CHECK(command_line(options, on_gpus(1), {"org/model"}) == "vllm serve org/model");
  options.settings = {{"speculative_config.method", "mtp"},
                      {"speculative_config.num_speculative_tokens", "3"},
                      {"enforce_eager", "true"}};
  options.utilization = 0.95;
  CHECK(command_line(options, on_gpus(4, "fp8"), {"org/model", Tokens(32768), 8}) ==
        "vllm serve org/model --enforce-eager --gpu-memory-utilization 0.95 --kv-cache-dtype fp8 "
        "--max-model-len 32768 --tensor-parallel-size 4 "
        "--speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":3}'");
}

TEST_CASE("llama.cpp gets cells for all sequences, ollama for one") {
  EngineOptions options = engine_options("llama.cpp");
  Deployment deployment;
  deployment.cache = cache_formats("q8_0,q4_0");
  CHECK(command_line(options, deployment, {"my model.gguf", Tokens(8192), 4}) ==
        "llama-server -m 'my model.gguf' --cache-type-k q8_0 --cache-type-v q4_0 "
        "--ctx-size 32768 --parallel 4");
  options = engine_options("ollama");
  deployment.cache = cache_formats("q8_0");
  CHECK(command_line(options, deployment, {"qwen3:8b", Tokens(8192), 4}) ==
        "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 OLLAMA_CONTEXT_LENGTH=8192 "
        "OLLAMA_NUM_PARALLEL=4 ollama serve & ollama run qwen3:8b");
  const EngineCommand back = read_line(command_line(options, deployment, {"qwen3:8b"}));
  CHECK(back.model == "qwen3:8b");
  CHECK(back.options.settings == Settings{{"flash_attention", "1"}, {"kv_cache_type", "q8_0"}});
  options = {};
  CHECK(command_line(options, deployment, {"m"}).empty());
}

TEST_CASE("a line that was written is read back as the same settings") {
  for (const char* engine : {"vllm", "sglang", "trtllm", "llama.cpp"}) {
    EngineOptions options = engine_options(engine);
    for (const EngineFlag& flag : options.flags->flags) {
      if (flag.kind == EngineFlag::json || flag.name.find("dtype") != std::string_view::npos)
        continue;
      options.settings[flag.name] = flag.kind == EngineFlag::toggle     ? "false"
                                    : flag.kind == EngineFlag::tristate ? "off"
                                    : flag.kind == EngineFlag::choice   ? flag.choices.back()
                                                                        : "1";
    }
    CAPTURE(engine);
    const std::string line = command_line(options, on_gpus(1, "fp16"), {"a/b c"});
    CAPTURE(line);
    const EngineCommand back = read_line(line);
    CHECK(back.options.name == engine);
    CHECK(back.model == "a/b c");
    CHECK(back.options.settings == options.settings);
  }
}
