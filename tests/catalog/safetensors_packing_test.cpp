// SPDX-License-Identifier: Apache-2.0
// Quantised layouts as their tools write them: parameters, elements and bytes of one matrix of 256
// outputs and 512 inputs.
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "catalog/safetensors/packing.h"
#include "catalog/safetensors_writer.h"
#include "model/parameters.h"

using namespace kvplan;
using testing::SafetensorsWriter;

namespace {

const std::string kQ = "model.layers.0.self_attn.q_proj";
const std::string kUp = "model.layers.0.mlp.experts.up_proj";

TensorTable table_of(const SafetensorsWriter& w, const safetensors::PackHints& hints = {}) {
  std::istringstream in(w.file());
  TensorTable table;
  table.tensors = safetensors::unpack(safetensors::parse_header(in), hints);
  return table;
}

struct Expected {
  std::string format;
  std::int64_t parameters = 256 * 512;
  bool accounts_for_all = true;
};

// The sum of tensors and the sum of the model's weights are the file's payload, to the byte.
void check(const SafetensorsWriter& w, const Expected& expected,
           const safetensors::PackHints& hints = {}) {
  const TensorTable table = table_of(w, hints);
  CHECK(table.bytes().n == static_cast<std::int64_t>(w.data_bytes()));
  CHECK(table.parameters() == expected.parameters);
  const Tensor* matrix = nullptr;
  std::int64_t stored = 0;
  for (const Tensor& t : table.tensors) {
    stored += t.stored_elements;
    if (t.parameters > 0) matrix = &t;
    if (t.parameters == 0 && t.name.find("input") == std::string::npos &&
        t.name.find("g_idx") == std::string::npos && t.name.find("shape") == std::string::npos)
      CHECK(t.in_format == expected.accounts_for_all);
  }
  REQUIRE(matrix);
  CHECK(matrix->format->name == expected.format);
  CHECK(stored > 0);
  ModelSpec model;
  model.layers.resize(1);
  model.tied_head = true;
  use_tensors(model, table);
  CHECK(resident_weights(model).n == static_cast<std::int64_t>(w.data_bytes()));
  CHECK(count_parameters(model).total == expected.parameters);
  CHECK(count_parameters(model).attention + count_parameters(model).experts == expected.parameters);
}

}  // namespace

TEST_CASE("AWQ packs along the outputs, with zero points") {
  SafetensorsWriter w;
  w.i32(kQ + ".qweight", {512, 256 / 8})
      .i32(kQ + ".qzeros", {4, 256 / 8})
      .f16(kQ + ".scales", {4, 256});
  check(w, {"int4-g128-zp"});
}

TEST_CASE("GPTQ packs along the inputs, in 4, 8 and 3 bits, with an order of its own") {
  SafetensorsWriter four, eight, three, ordered;
  four.i32(kQ + ".qweight", {512 / 8, 256})
      .i32(kQ + ".qzeros", {16, 32})
      .f16(kQ + ".scales", {16, 256});
  check(four, {"int4-g32-zp"});
  eight.i32(kQ + ".qweight", {512 / 4, 256})
      .i32(kQ + ".qzeros", {4, 64})
      .f16(kQ + ".scales", {4, 256});
  check(eight, {"int8-g128-zp"});
  three.i32(kQ + ".qweight", {512 * 3 / 32, 256})
      .i32(kQ + ".qzeros", {4, 24})
      .f16(kQ + ".scales", {4, 256});
  check(three, {"int3-g128-zp"});
  ordered.i32(kQ + ".qweight", {64, 256})
      .i32(kQ + ".qzeros", {4, 32})
      .f16(kQ + ".scales", {4, 256});
  ordered.i32(kQ + ".g_idx", {512});
  check(ordered, {"int4-g128-zp"});
}

TEST_CASE("compressed-tensors packs integers along the inputs, bits from the configuration") {
  SafetensorsWriter symmetric, asymmetric, eight;
  symmetric.i32(kQ + ".weight_packed", {256, 64}).bf16(kQ + ".weight_scale", {256, 4});
  symmetric.tensor(kQ + ".weight_shape", "I64", 64, {2});
  check(symmetric, {"int4-g128"}, {4, 128});
  asymmetric.i32(kQ + ".weight_packed", {256, 64}).bf16(kQ + ".weight_scale", {256, 4});
  asymmetric.i32(kQ + ".weight_zero_point", {32, 4}).i32(kQ + ".weight_shape", {2});
  check(asymmetric, {"int4-g128-zp"}, {4, 128});
  eight.i32(kQ + ".weight_packed", {256, 128}).bf16(kQ + ".weight_scale", {256, 4});
  check(eight, {"int8-g128"}, {8, 128});
}

TEST_CASE(
    "8-bit floats have a scale per tensor, output or tile, and sometimes one for activations") {
  SafetensorsWriter tensor, channel, tile, half, alone, e8m0;
  tensor.f8(kQ + ".weight", {256, 512}).f32(kQ + ".weight_scale", {}).f32(kQ + ".input_scale", {});
  check(tensor, {"fp8-tensor"});
  channel.f8(kQ + ".weight", {256, 512}).f32(kQ + ".weight_scale", {256, 1});
  check(channel, {"fp8-channel"});
  tile.f8(kQ + ".weight", {256, 512}).f32(kQ + ".weight_scale_inv", {2, 4});
  check(tile, {"fp8-block128"});
  half.f8(kQ + ".weight", {256, 512}).bf16(kQ + ".weight_scale", {256, 1});  // no such format
  check(half, {"fp8", 256 * 512, false});
  alone.f8(kQ + ".weight", {256, 512});
  check(alone, {"fp8"});
  // DeepSeek-V4: one exponent byte a tile.
  e8m0.f8("layers.0.attn.wq_a.weight", {256, 512});
  e8m0.tensor("layers.0.attn.wq_a.scale", "F8_E8M0", 8, {2, 4});
  check(e8m0, {"fp8", 256 * 512, false});
}

TEST_CASE("tiles that do not divide the matrix count as whole tiles") {
  SafetensorsWriter w;
  w.f8(kQ + ".weight", {200, 300}).f32(kQ + ".weight_scale_inv", {2, 3});
  check(w, {"fp8-block128", 200 * 300});
}

TEST_CASE("tiles as many as outputs are tiles all the same (DeepSeek-V3's output projection)") {
  SafetensorsWriter w;
  w.f8(kQ + ".weight", {128, 16384}).f32(kQ + ".weight_scale_inv", {1, 128});
  check(w, {"fp8-block128", 128 * 16384});
}

TEST_CASE("8-bit integers have a scale per output, in 32 or 16 bits") {
  SafetensorsWriter single, half, bnb;
  single.tensor(kQ + ".weight", "I8", 8, {256, 512}).f32(kQ + ".weight_scale", {256, 1});
  check(single, {"int8-channel"});
  half.tensor(kQ + ".weight", "I8", 8, {256, 512}).bf16(kQ + ".weight_scale", {256, 1});
  check(half, {"int8", 256 * 512, false});
  bnb.tensor(kQ + ".weight", "I8", 8, {256, 512}).f32(kQ + ".weight.SCB", {256});
  check(bnb, {"int8-channel"});
}

TEST_CASE(
    "NVFP4 has an 8-bit float for 16 and a 32-bit one for all (ModelOpt, compressed-tensors)") {
  SafetensorsWriter modelopt, compressed;
  modelopt.u8(kQ + ".weight", {256, 256}).f8(kQ + ".weight_scale", {256, 32});
  modelopt.f32(kQ + ".weight_scale_2", {}).f32(kQ + ".input_scale", {});
  check(modelopt, {"nvfp4"});
  compressed.u8(kQ + ".weight_packed", {256, 256}).f8(kQ + ".weight_scale", {256, 32});
  compressed.f32(kQ + ".weight_global_scale", {1}).f32(kQ + ".input_global_scale", {1});
  check(compressed, {"nvfp4"});
}

TEST_CASE("MXFP4 has an exponent for 32 (gpt-oss blocks, packed bytes, DeepSeek-V4, F4)") {
  SafetensorsWriter blocks, packed, signed_bytes, f4;
  blocks.u8(kUp + "_blocks", {8, 256, 16, 16}).u8(kUp + "_scales", {8, 256, 16});
  check(blocks, {"mxfp4", 8 * 256 * 512});
  packed.u8(kQ + ".weight_packed", {256, 256}).u8(kQ + ".weight_scale", {256, 16});
  check(packed, {"mxfp4"});
  signed_bytes.tensor("layers.0.ffn.experts.3.w1.weight", "I8", 8, {256, 256});
  signed_bytes.tensor("layers.0.ffn.experts.3.w1.scale", "F8_E8M0", 8, {256, 16});
  check(signed_bytes, {"mxfp4"});
  f4.tensor(kQ + ".weight", "F4", 4, {256, 512}).u8(kQ + ".weight_scale", {256, 16});
  check(f4, {"mxfp4"});
}

TEST_CASE("MXFP8 has an exponent for 32") {
  SafetensorsWriter w;
  w.f8(kQ + ".weight", {256, 512}).u8(kQ + ".weight_scale", {256, 16});
  check(w, {"mxfp8"});
}

TEST_CASE("MLX keeps scale and bias of each group, in any number of bits") {
  SafetensorsWriter four, six;
  four.tensor(kQ + ".weight", "U32", 32, {256, 64})
      .bf16(kQ + ".scales", {256, 8})
      .bf16(kQ + ".biases", {256, 8});
  check(four, {"mlx-4bit-g64"}, {4, 64});
  six.tensor(kQ + ".weight", "U32", 32, {256, 96})
      .bf16(kQ + ".scales", {256, 8})
      .bf16(kQ + ".biases", {256, 8});
  check(six, {"mlx-6bit-g64"}, {6, 64});
}

TEST_CASE("bitsandbytes keeps two numbers a byte in one column") {
  SafetensorsWriter w;
  w.u8(kQ + ".weight", {256 * 512 / 2, 1}).f32(kQ + ".weight.absmax", {256 * 512 / 64});
  w.f32(kQ + ".weight.quant_map", {16});
  w.u8(kQ + ".weight.quant_state.bitsandbytes__nf4", {82});
  const TensorTable table = table_of(w);
  CHECK(table.parameters() == 256 * 512);
  CHECK(table.bytes().n == static_cast<std::int64_t>(w.data_bytes()));
  CHECK(table.tensors[0].format->name == "nf4");
}

TEST_CASE("stacked experts with scales of their own are copies, each with its own scale") {
  SafetensorsWriter w;
  w.u8(kUp + ".weight", {8, 256, 256}).f8(kUp + ".weight_scale", {8, 256, 32});
  w.f32(kUp + ".weight_scale_2", {8});
  check(w, {"nvfp4", 8 * 256 * 512});
}

TEST_CASE("a packed matrix of no known layout keeps the bytes that it has") {
  SafetensorsWriter w;
  w.i32(kQ + ".qweight", {7, 11, 13}).f16(kQ + ".scales", {3});
  const TensorTable table = table_of(w);
  CHECK(table.bytes().n == static_cast<std::int64_t>(w.data_bytes()));
  CHECK(table.tensors[0].format->name == "int32");
}
