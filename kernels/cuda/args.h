// SPDX-License-Identifier: Apache-2.0
// What kernels are told. Pointers are the device's.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kvplan {

constexpr int kChunkBytes = 16;  // what a thread loads at once

struct StreamArgs {
  const void* from = nullptr;
  void* to = nullptr;             // of a copy
  std::uint32_t* sums = nullptr;  // [grid · threads], of a read
  std::int64_t chunks = 0;        // of 16 bytes
};

// Attention of one query per sequence. Operands (queries, outputs) are 16-bit numbers of the
// kernel's type. A cache lies in blocks: [block][kv head][token of the block][width].
struct DecodeArgs {
  const std::uint16_t* queries = nullptr;  // [batch][heads][width]
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  const float* key_scales = nullptr;    // [block][kv head][token], where the format has them
  const float* value_scales = nullptr;  // likewise
  const int* blocks = nullptr;          // [batch][blocks_per_sequence]
  std::uint16_t* out = nullptr;         // [batch][heads][width]
  float* parts = nullptr;               // [split][batch · heads][width], if there is more than one
  float* states = nullptr;              // [split][batch · heads][2] highest score and sum
  std::int64_t block_bytes = 0, head_bytes = 0;    // strides of keys and values
  std::int64_t block_scales = 0, head_scales = 0;  // strides of scales, in numbers
  int batch = 0, heads = 0, kv_heads = 0, context = 0;
  int blocks_per_sequence = 0, block_shift = 0;  // 2^block_shift tokens a block, 16 or more
  int splits = 1, tokens_per_split = 0;          // whole tiles of 16
  float score_scale = 0, value_scale = 1;        // scores become exponents of two
};

// Merges splits: one block for each head of a sequence.
struct CombineArgs {
  const float* parts = nullptr;   // [split][rows][width]
  const float* states = nullptr;  // [split][rows][2]
  std::uint16_t* out = nullptr;   // [rows][width]
  int splits = 1, width = 0;
  float value_scale = 1;
};

// y[m, n] = x[m, k] · W[n, k]ᵀ for up to 16 rows of x.
struct WeightStreamArgs {
  const std::byte* weights = nullptr;  // [n][k], in the kernel's format
  const std::byte* scales = nullptr;   // as model/format.h has them, or unused
  const std::uint16_t* x = nullptr;    // [m][k], operands
  float* y = nullptr;                  // [m][n]
  int m = 1, n = 1, k = 1;             // k: whole groups of 128
};

// Attention of `queries` new tokens per sequence after `past` stored ones; the cache is contiguous:
// [batch][kv head][token][width].
struct PrefillArgs {
  const std::uint16_t* q = nullptr;  // [batch][query][heads][width]
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  std::uint16_t* out = nullptr;  // as q
  std::int64_t head_rows = 0;    // rows of the cache from one KV head to the next
  int heads = 0, kv_heads = 0, queries = 0, past = 0;
  float score_scale = 0;  // scores become exponents of two
};

}  // namespace kvplan
