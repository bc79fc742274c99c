// SPDX-License-Identifier: Apache-2.0
// Runs every kv-plan line of the README as it stands there.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catalog/gguf_models.h"
#include "catalog/safetensors_writer.h"
#include "catalog/scratch.h"

namespace fs = std::filesystem;
using namespace kvplan::testing;

namespace {

// Lines of the shell blocks, comments taken off.
std::vector<std::string> shell_lines() {
  std::ifstream in(fs::path(KVPLAN_SOURCE_DIR) / "README.md");
  std::vector<std::string> lines;
  bool shell = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      shell = line == "```sh";
      continue;
    }
    if (shell) lines.push_back(line.substr(0, line.find(" #")));
  }
  return lines;
}

std::string output_of(const std::string& arguments) {
  std::string text;
  FILE* pipe = popen(("'" KVPLAN_BINARY "' " + arguments + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe);
  char piece[4096];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, n);
  pclose(pipe);
  return text;
}

int exit_status(const std::string& arguments, const fs::path& folder) {
  const std::string command =
      "cd '" + folder.string() + "' && '" KVPLAN_BINARY "' " + arguments + " >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What the README takes for the reader's own: a model of llama.cpp, a checkpoint, a log.
void write_users_files(const Scratch& scratch) {
  scratch.write("model.gguf", file_of("llama", {{"block_count", 2},
                                                {"context_length", 8192},
                                                {"embedding_length", 64},
                                                {"feed_forward_length", 128},
                                                {"attention.head_count", 4},
                                                {"attention.head_count_kv", 2},
                                                {"vocab_size", 1000}})
                                  .file());
  fs::create_directory(scratch.path("checkpoint"));
  scratch.write("checkpoint/config.json",
                R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1,
 "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
 "max_position_embeddings": 8192, "torch_dtype": "bfloat16"})");
  SafetensorsWriter w;
  scratch.write("checkpoint/model.safetensors", w.bf16("lm_head.weight", {1000, 64}).file());
  fs::copy_file(KVPLAN_SOURCE_DIR "/tests/logs/examples/vllm-0.6.4-llama-3.1-8b.log",
                scratch.path("server.log"));
}

}  // namespace

TEST_CASE("every kv-plan line of the README runs as it stands there") {
  const Scratch scratch;  // of its own: suites of several checkouts may run at once
  const fs::path folder = scratch.folder();
  write_users_files(scratch);
  int run = 0;
  for (const std::string& line : shell_lines()) {
    // Measuring takes its time; tests/calibrate has it.
    if (!line.starts_with("kv-plan ") || line.starts_with("kv-plan calibrate")) continue;
    CAPTURE(line);
    const int status = exit_status(line.substr(8), folder);
    CHECK((status == 0 || status == 1));
    ++run;
  }
  CHECK(run >= 8);
}

TEST_CASE(
    "the README's example is what the command prints, in this order; … stands for lines left out") {
  std::ifstream in(fs::path(KVPLAN_SOURCE_DIR) / "README.md");
  std::string line, printed;
  std::size_t at = 0;
  int lines = 0;
  bool example = false;
  while (std::getline(in, line)) {
    if (line.starts_with("$ kv-plan ")) {
      printed = output_of(line.substr(10));
      example = true;
    } else if (example && line.starts_with("```")) {
      break;
    } else if (example && line != "…") {
      CAPTURE(line);
      const std::size_t found = printed.find(line + "\n", at);
      REQUIRE(found != std::string::npos);
      at = found + line.size();
      ++lines;
    }
  }
  CHECK(lines > 10);
}

TEST_CASE("the README's two set-up commands are bootstrap and its test") {
  std::vector<std::string> commands;
  for (const std::string& line : shell_lines())
    if (line.starts_with("./bootstrap")) commands.push_back(line.substr(0, line.find("  ")));
  CHECK(commands == std::vector<std::string>{"./bootstrap", "./bootstrap test"});
  CHECK(fs::exists(fs::path(KVPLAN_SOURCE_DIR) / "bootstrap"));
}

TEST_CASE("exit status tells yes, no and wrong use apart") {
  const fs::path here = fs::temp_directory_path();
  CHECK(exit_status("plan llama-3.1-8b h100-sxm", here) == 0);
  CHECK(exit_status("plan llama-3.1-405b rtx-4090", here) == 1);
  CHECK(exit_status("plan no-such-model rtx-4090", here) == 2);
  CHECK(exit_status("plan llama-3.1-8b rtx-4090 --set no_such_flag=1", here) == 2);
}
