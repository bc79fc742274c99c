// SPDX-License-Identifier: Apache-2.0
// Weights of GGUF files: what the tensor table says, to the byte.
#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include "catalog/gguf.h"
#include "catalog/gguf_writer.h"
#include "catalog/scratch.h"
#include "model/parameters.h"

using namespace kvplan;
using testing::GgufWriter;
using testing::Scratch;

namespace {

constexpr std::uint32_t kF32 = 0, kF16 = 1, kQ8_0 = 8, kQ4K = 12, kQ6K = 14;

std::uint64_t ggml_bytes(std::uint32_t type, std::uint64_t elements) {
  switch (type) {
    case kF32:
      return elements * 4;
    case kF16:
      return elements * 2;
    case kQ8_0:
      return elements / 32 * 34;
    case kQ4K:
      return elements / 256 * 144;
    default:
      return elements / 256 * 210;  // q6_k
  }
}

void add(GgufWriter& w, const std::string& name, const std::vector<std::uint64_t>& sizes,
         std::uint32_t type) {
  std::uint64_t elements = 1;
  for (const auto n : sizes) elements *= n;
  w.tensor(name, sizes, type, ggml_bytes(type, elements));
}

// Llama 3 8B as llama.cpp's Q4_K_M: 6 bits for the head and, in half of the layers (the first and
// last eighth, every third between), for values and down projections; 4 bits elsewhere.
GgufWriter llama3_8b_q4_k_m() {
  GgufWriter w;
  w.text("general.architecture", "llama").text("general.name", "Meta-Llama-3-8B");
  w.u32("llama.block_count", 32).u32("llama.embedding_length", 4096);
  w.u32("llama.attention.head_count", 32).u32("llama.attention.head_count_kv", 8);
  w.u32("llama.context_length", 8192).u32("llama.feed_forward_length", 14336);
  add(w, "token_embd.weight", {4096, 128256}, kQ4K);
  for (int i = 0; i < 32; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    const std::uint32_t more = i < 4 || i >= 28 || (i - 4) % 3 == 2 ? kQ6K : kQ4K;
    add(w, blk + "attn_norm.weight", {4096}, kF32);
    add(w, blk + "attn_q.weight", {4096, 4096}, kQ4K);
    add(w, blk + "attn_k.weight", {4096, 1024}, kQ4K);
    add(w, blk + "attn_v.weight", {4096, 1024}, more);
    add(w, blk + "attn_output.weight", {4096, 4096}, kQ4K);
    add(w, blk + "ffn_norm.weight", {4096}, kF32);
    add(w, blk + "ffn_gate.weight", {4096, 14336}, kQ4K);
    add(w, blk + "ffn_up.weight", {4096, 14336}, kQ4K);
    add(w, blk + "ffn_down.weight", {14336, 4096}, more);
  }
  add(w, "output_norm.weight", {4096}, kF32);
  add(w, "output.weight", {4096, 128256}, kQ6K);
  return w;
}

const Weight* find(const std::vector<Weight>& weights, std::string_view name) {
  for (const Weight& w : weights)
    if (w.name == name && !w.is_auxiliary) return &w;
  return nullptr;
}

}  // namespace

// 8,030,261,248 parameters: Meta's model card says 8.03 B; 4,912,916,480 bytes of tensors:
// llama.cpp prints "model size = 4.58 GiB (4.89 BPW)" for this file.
TEST_CASE("Llama 3 8B in Q4_K_M has its published parameters and bits per weight") {
  const GgufWriter w = llama3_8b_q4_k_m();
  const Scratch scratch;
  const std::string path = scratch.write("model.gguf", w.head(), w.data_bytes());
  const ModelSpec model = read_gguf(path);
  CHECK(model.warnings.empty());
  CHECK(model.name == "Meta-Llama-3-8B");
  CHECK_FALSE(model.tied_head);
  CHECK(count_parameters(model).total == 8'030'261'248);
  const std::int64_t bytes = resident_weights(model).n;
  CHECK(bytes == static_cast<std::int64_t>(w.data_bytes()));  // no gaps: all sizes align
  CHECK(static_cast<double>(bytes) / (1 << 30) == doctest::Approx(4.58).epsilon(0.001));
  CHECK(static_cast<double>(bytes) * 8 / 8'030'261'248 == doctest::Approx(4.89).epsilon(0.001));
  CHECK(find(model.layers[0].weights, "self_attn.v_proj")->format->name == "q6_k");
  CHECK(find(model.layers[4].weights, "self_attn.v_proj")->format->name == "q4_k");
  CHECK(find(model.layers[0].weights, "self_attn.k_proj")->sharding == Sharding::kv_heads);
}

TEST_CASE("groups by role and format add up to the file") {
  const GgufWriter w = llama3_8b_q4_k_m();
  const Scratch scratch;
  const TensorTable table = read_gguf_tensors(scratch.write("m.gguf", w.head(), w.data_bytes()));
  CHECK(table.tensors.size() == 291);
  CHECK(table.bytes().n == static_cast<std::int64_t>(w.data_bytes()));
  CHECK(table.parameters() == 8'030'261'248);
  std::int64_t bytes = 0, tensors = 0;
  for (const TensorGroup& g : group_tensors(table)) bytes += g.bytes.n, tensors += g.tensors;
  CHECK(bytes == table.bytes().n);
  CHECK(tensors == 291);
  const auto groups = group_tensors(table);
  CHECK(groups[0].role == Role::embedding);
  CHECK(groups[1].role == Role::attention);
  CHECK(groups[1].format->name == "q4_k");
}

TEST_CASE("stacked and single experts read what a token chooses; one product of q, k, v is three") {
  GgufWriter w;
  w.text("general.architecture", "brandnew");
  for (const auto& [key, value] : {std::pair{"block_count", 2u},
                                   {"embedding_length", 64u},
                                   {"attention.head_count", 4u},
                                   {"attention.head_count_kv", 2u},
                                   {"expert_count", 8u},
                                   {"expert_used_count", 2u}})
    w.u32(std::string("brandnew.") + key, value);
  add(w, "token_embd.weight", {64, 100}, kF16);
  add(w, "blk.0.attn_qkv.weight", {64, 64 + 32 + 32}, kF16);
  add(w, "blk.0.attn_qkv.bias", {64 + 32 + 32}, kF32);
  add(w, "blk.0.ffn_up_exps.weight", {64, 96, 8}, kQ8_0);
  add(w, "blk.0.ffn_up_exps.bias", {96, 8}, kF32);
  add(w, "blk.0.ffn_gate_inp.weight", {64, 8}, kF32);
  for (int e = 0; e < 8; ++e)
    add(w, "blk.1.ffn_up." + std::to_string(e) + ".weight", {64, 96}, e < 4 ? kQ8_0 : kF16);
  add(w, "blk.1.something_new.weight", {64}, kF32);
  add(w, "rope_freqs.weight", {32}, kF32);
  const Scratch scratch;
  const ModelSpec model = read_gguf(scratch.write("m.gguf", w.file()));
  const auto& first = model.layers[0].weights;
  CHECK(find(first, "self_attn.q_proj")->rows == 64);
  CHECK(find(first, "self_attn.k_proj")->rows == 32);
  CHECK(find(first, "self_attn.v_proj")->sharding == Sharding::kv_heads);
  const Weight* stacked = find(first, "mlp.experts.*.up_proj");
  CHECK(std::tuple(stacked->rows, stacked->columns, stacked->copies, stacked->active) ==
        std::tuple(96, 64, 8, 2));
  for (const Weight& half : model.layers[1].weights)
    if (half.role == Role::routed_expert) {
      CHECK(half.copies == 4);
      CHECK(half.active == 1);
    }
  CHECK(model.tied_head);
  REQUIRE(model.warnings.size() == 1);
  CHECK(model.warnings[0].message.find("blk.1.something_new.weight") != std::string::npos);
  // Angles are bytes, not parameters: all elements but 32.
  CHECK(count_parameters(model).scales == 32);
  const std::int64_t bytes = read_gguf_tensors(scratch.path("m.gguf")).bytes().n;
  CHECK(resident_weights(model).n == bytes);
}

TEST_CASE("a split model reads as one from any of its parts, and misses none") {
  const auto part = [](int number, int count, int tensors) {
    GgufWriter w;
    if (number == 1) {
      w.text("general.architecture", "llama").u32("llama.block_count", 1);
      w.u32("llama.embedding_length", 64).u32("llama.attention.head_count", 4);
    }
    w.u16("split.no", static_cast<std::uint16_t>(number - 1));
    w.u16("split.count", static_cast<std::uint16_t>(count));
    w.i32("split.tensors.count", tensors);
    if (number == 2) add(w, "token_embd.weight", {64, 10}, kF16);
    if (number == 3) add(w, "output.weight", {64, 10}, kF16);
    return w.file();
  };
  const Scratch scratch;
  const std::string first = scratch.write("m-00001-of-00003.gguf", part(1, 3, 2));
  const std::string second = scratch.write("m-00002-of-00003.gguf", part(2, 3, 2));
  CHECK_THROWS_AS(read_gguf(first), Error);
  const std::string third = scratch.write("m-00003-of-00003.gguf", part(3, 3, 2));
  for (const std::string& path : {first, second, third})
    CHECK(resident_weights(read_gguf(path)).n == 2 * 64 * 10 * 2);

  scratch.write("m-00003-of-00003.gguf", part(2, 3, 2));  // one part twice
  CHECK_THROWS_AS(read_gguf(first), Error);
  scratch.write("m-00003-of-00003.gguf", part(3, 4, 2));  // of another split
  CHECK_THROWS_AS(read_gguf(first), Error);
  scratch.write("m-00003-of-00003.gguf", part(4, 3, 2));
  CHECK_THROWS_AS(read_gguf(first), Error);
  const std::string renamed = scratch.write("renamed.gguf", part(1, 3, 2));
  try {
    read_gguf(renamed);
    FAIL("one part is no model");
  } catch (const Error& e) {
    CHECK(e.key == "split.count");
    CHECK(e.file == renamed);
  }
}
