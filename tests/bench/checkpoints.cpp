// SPDX-License-Identifier: Apache-2.0
// Reading large checkpoints: 2,000 tensors in one GGUF file, and an index over 200 shards. The
// files are holes but for their heads.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "bench/bench.h"
#include "catalog/gguf.h"
#include "catalog/gguf_writer.h"
#include "catalog/safetensors.h"
#include "catalog/safetensors_writer.h"
#include "catalog/scratch.h"

namespace kvplan::bench {
namespace {

using testing::GgufWriter;
using testing::SafetensorsWriter;
using testing::Scratch;

constexpr int kShards = 200;

// 222 layers of 9 tensors and a vocabulary of 152,064 words: Qwen's, of which there are most.
std::string write_gguf(const Scratch& scratch) {
  GgufWriter w;
  w.text("general.architecture", "llama").u32("llama.block_count", 222);
  w.u32("llama.embedding_length", 1024).u32("llama.attention.head_count", 16);
  w.texts("tokenizer.ggml.tokens", 152'064, "eight_by")
      .texts("tokenizer.ggml.merges", 151'387, "a b");
  w.tensor("token_embd.weight", {1024, 152'064}, 1, 1024ull * 152'064 * 2);
  w.tensor("output_norm.weight", {1024}, 0, 4096);
  for (int layer = 0; layer < 222; ++layer)
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up",
                             "ffn_down", "attn_norm", "ffn_norm"})
      w.tensor("blk." + std::to_string(layer) + "." + name + ".weight", {1024, 1024}, 1, 2 << 20);
  return scratch.write("model.gguf", w.head(), w.data_bytes());
}

std::string shard_name(int shard) {
  const std::string number = std::to_string(shard);
  return "model-" + std::string(5 - number.size(), '0') + number + "-of-00200.safetensors";
}

// A layer a shard, as dense models of this size have them: 1,800 tensors.
std::string write_index(const Scratch& scratch) {
  scratch.write("config.json",
                R"({"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 200,
                    "num_attention_heads": 16, "intermediate_size": 1024, "vocab_size": 1024})");
  std::string map;
  std::uint64_t total = 0;
  for (int shard = 1; shard <= kShards; ++shard) {
    SafetensorsWriter w;
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                             "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
                             "input_layernorm", "post_attention_layernorm"}) {
      const std::string tensor =
          "model.layers." + std::to_string(shard - 1) + "." + name + ".weight";
      w.bf16(tensor, {1024, 1024});
      map += (map.empty() ? "\"" : ", \"") + tensor + "\": \"" + shard_name(shard) + "\"";
    }
    total += w.data_bytes();
    scratch.write(shard_name(shard), w.head(), w.data_bytes());
  }
  return scratch.write("model.safetensors.index.json",
                       "{\"metadata\": {\"total_size\": " + std::to_string(total) +
                           "}, \"weight_map\": {" + map + "}}");
}

// Peak memory of a process that does nothing else.
template <class Read>
double peak_mebibytes(Read read) {
  const pid_t child = fork();
  if (child == 0) {
    read();
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
    throw std::runtime_error("a checkpoint cannot be read");
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

template <class Read>
void measure(std::vector<Result>& results, const std::string& what, Read read) {
  constexpr int kRounds = 11;
  std::vector<double> milliseconds;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    read();
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  results.push_back({what, milliseconds[kRounds / 2], 50, "ms"});
  results.push_back({what + ", memory", peak_mebibytes(read), 64, "MiB"});
}

}  // namespace

std::vector<Result> checkpoints() {
  const Scratch scratch;
  const std::string gguf = write_gguf(scratch), index = write_index(scratch);
  std::vector<Result> results;
  measure(results, "a GGUF file of 2,000 tensors", [&] { (void)read_gguf(gguf); });
  measure(results, "an index over 200 shards", [&] { (void)read_safetensors(index); });
  return results;
}

}  // namespace kvplan::bench
