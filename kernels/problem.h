// SPDX-License-Identifier: Apache-2.0
// Inputs of problems: the same numbers on every machine and backend, from a hash of their index.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/format.h"

namespace kvplan {

// SplitMix64 (Steele, Lea, Flood 2014): 64 well mixed bits of a counter.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Uniform in [-1, 1).
constexpr float uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(static_cast<std::int64_t>(mixed(seed ^ mixed(index))) >> 40) * 0x1p-23f;
}

// Small numbers with a few large ones, as activations have: a kernel that loses precision or skips
// a part shows it. |value| < 1.
constexpr float peaky(std::uint64_t seed, std::uint64_t index) {
  const float u = uniform(seed, index);
  return u * u * u;
}

// 16-bit activations (bfloat16 bits), peaky, times `scale`.
std::vector<std::uint16_t> activations(std::size_t count, std::uint64_t seed, float scale);

// Bytes that are a fair value in every format: as fp16 ±[0.5, 2), as bf16 and fp32 ±[2^-15, 2),
// as int8, int4 and fp8 any code but fp8's NaN. One 8-byte word per index.
constexpr std::uint64_t word_of_any_format(std::uint64_t index) {
  return (mixed(index) & 0x87f787f787f787f7u) | 0x3800380038003800u;
}
void fill_with_any_format(std::span<std::byte> bytes, std::uint64_t seed);

// Factor on queries that makes the scores of keys from word_of_any_format spread over about ± 12,
// so that a few keys carry the weight.
float query_scale(const Format& key, std::int64_t width);

}  // namespace kvplan
