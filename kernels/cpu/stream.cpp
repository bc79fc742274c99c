// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/stream.h"

#include <immintrin.h>

#include <array>
#include <cstring>

namespace kvplan {
namespace {

// Plain words in 32 sums: compilers make vectors of them.
std::uint64_t read_words(const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kSums = 32;
  std::array<std::uint64_t, kSums> sums{};
  for (std::size_t i = 0; i < bytes; i += sizeof sums) {
    std::array<std::uint64_t, kSums> words;
    std::memcpy(words.data(), from + i, sizeof words);
    for (std::size_t j = 0; j < kSums; ++j) sums[j] ^= words[j];
  }
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all ^= sum;
  return all;
}

KVPLAN_AVX512 std::uint64_t folded(__m512i sums) {
  alignas(64) std::uint64_t words[8];
  _mm512_store_si512(words, sums);
  std::uint64_t all = 0;
  for (const std::uint64_t word : words) all ^= word;
  return all;
}

// `kAhead`: bytes by which a prefetch runs ahead, 0 for none.
template <int kSums, int kAhead>
KVPLAN_AVX512 std::uint64_t read_512(const std::byte* from, std::size_t bytes) {
  __m512i sums[kSums];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::size_t i = 0; i < bytes; i += 64 * kSums)
    for (int j = 0; j < kSums; ++j) {
      const std::byte* line = from + i + 64 * j;
      if constexpr (kAhead > 0) _mm_prefetch(line + kAhead, _MM_HINT_T0);
      sums[j] = _mm512_xor_si512(sums[j], _mm512_loadu_si512(line));
    }
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_xor_si512(sums[0], sums[j]);
  return folded(sums[0]);
}

// Four places at once: more open pages, and more streams for the prefetcher.
KVPLAN_AVX512 std::uint64_t read_four_streams(const std::byte* from, std::size_t bytes) {
  const std::size_t quarter = bytes / 4;
  __m512i sums[4];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::size_t i = 0; i < quarter; i += 64)
    for (std::size_t j = 0; j < 4; ++j)
      sums[j] = _mm512_xor_si512(sums[j], _mm512_loadu_si512(from + j * quarter + i));
  return folded(
      _mm512_xor_si512(_mm512_xor_si512(sums[0], sums[1]), _mm512_xor_si512(sums[2], sums[3])));
}

void copy_library(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

// Non-temporal stores write whole lines without reading them first.
KVPLAN_AVX512 void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
  _mm_sfence();
}

KVPLAN_AVX2 void copy_past_caches_256(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  _mm_sfence();
}

constexpr std::array kReads = {
    ReadKernel{"words", Isa::portable, read_words},
    ReadKernel{"4 sums", Isa::avx512, read_512<4, 0>},
    ReadKernel{"8 sums", Isa::avx512, read_512<8, 0>},
    ReadKernel{"4 sums, prefetch 4 KiB ahead", Isa::avx512, read_512<4, 4096>},
    ReadKernel{"4 streams", Isa::avx512, read_four_streams},
};
constexpr std::array kCopies = {
    CopyKernel{"memcpy", Isa::portable, copy_library},
    CopyKernel{"past the caches, 256 bits", Isa::avx2, copy_past_caches_256},
    CopyKernel{"past the caches", Isa::avx512, copy_past_caches},
};

}  // namespace

std::span<const ReadKernel> read_kernels() { return kReads; }
std::span<const CopyKernel> copy_kernels() { return kCopies; }

}  // namespace kvplan
