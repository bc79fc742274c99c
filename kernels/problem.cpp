// SPDX-License-Identifier: Apache-2.0
#include "kernels/problem.h"

#include <cstring>

#include "kernels/numbers.h"

namespace kvplan {

std::vector<std::uint16_t> activations(std::size_t count, std::uint64_t seed, float scale) {
  std::vector<std::uint16_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = to_bf16(peaky(seed, i) * scale);
  return out;
}

void fill_with_any_format(std::span<std::byte> bytes, std::uint64_t seed) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  for (std::size_t i = 0; i < bytes.size(); i += kWord) {
    const std::uint64_t word = word_of_any_format(seed + i / kWord);
    std::memcpy(bytes.data() + i, &word, std::min(kWord, bytes.size() - i));
  }
}

float query_scale(const Format& key, std::int64_t width) {
  // Root mean square of a stored key: fp16 in [0.5, 2) about 1.2; bf16 log-uniform below 2 about
  // 0.4; int8 about 74 times a scale that is bf16-like. Peaky activations: u^3 has 0.38.
  const bool half = key.name == "fp16", byte = key.block_bytes == 1;
  const double rms = half ? 1.2 : byte ? 74 * 0.4 : 0.4;
  const double spread = 0.38 * rms * std::sqrt(static_cast<double>(width));  // of q · k
  return static_cast<float>(4.0 * std::sqrt(static_cast<double>(width)) / spread);
}

}  // namespace kvplan
