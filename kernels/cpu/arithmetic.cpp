// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/arithmetic.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/cpu/tiles.h"

namespace kvplan {
namespace {

constexpr int kSums = 12;  // more than an instruction takes cycles: none waits for the one before
constexpr int kTileSums = 6;  // likewise
constexpr std::int64_t kRounds = 200'000, kTileRounds = 20'000;
constexpr int kQuietPasses = 5, kMostPasses = 50;
constexpr double kLost = 0.01;  // of a pass, to others that had the processor

// Numbers that a compiler does not know; sums of their products stay finite.
struct Unknown {
  volatile float half = 0.5f, small = 0x1p-10f;
};

// kSums vectors of 16 floats.
[[gnu::always_inline]] inline float multiply_and_add(std::int64_t rounds) {
  const Unknown unknown;
  const float a = unknown.half, b = unknown.small;
  std::array<float, std::size_t{kSums} * 16> sums{};
  for (std::int64_t i = 0; i < rounds; ++i)
    for (float& sum : sums) sum = sum * a + b;
  float all = 0;
  for (const float sum : sums) all += sum;
  return all;
}
float portable(std::int64_t rounds) { return multiply_and_add(rounds); }

KVPLAN_AVX2 float floats_256(std::int64_t rounds) {
  const Unknown unknown;
  const __m256 a = _mm256_set1_ps(unknown.half), b = _mm256_set1_ps(unknown.small);
  __m256 sums[kSums];
  for (__m256& sum : sums) sum = b;
  for (std::int64_t i = 0; i < rounds; ++i)
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, a, b);
  for (int j = 1; j < kSums; ++j) sums[0] = _mm256_add_ps(sums[0], sums[j]);
  return _mm256_cvtss_f32(sums[0]);
}

KVPLAN_AVX512 float floats_512(std::int64_t rounds) {
  const Unknown unknown;
  const __m512 a = _mm512_set1_ps(unknown.half), b = _mm512_set1_ps(unknown.small);
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = b;
  for (std::int64_t i = 0; i < rounds; ++i)
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, a, b);
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_cvtss_f32(sums[0]);
}

KVPLAN_DOT float bf16_pairs(std::int64_t rounds) {
  const Unknown unknown;
  const auto a = reinterpret_cast<__m512bh>(_mm512_set1_ps(unknown.half));
  const auto b = reinterpret_cast<__m512bh>(_mm512_set1_ps(unknown.small));
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (std::int64_t i = 0; i < rounds; ++i)
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, a, b);
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_cvtss_f32(sums[0]);
}

KVPLAN_DOT float word_pairs(std::int64_t rounds) {
  const Unknown unknown;
  const __m512i a = _mm512_set1_epi16(static_cast<short>(unknown.half * 4));
  const __m512i b = _mm512_set1_epi16(static_cast<short>(unknown.small * 2048));
  __m512i sums[kSums];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::int64_t i = 0; i < rounds; ++i)
    for (__m512i& sum : sums) sum = _mm512_dpwssd_epi32(sum, a, b);
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_epi32(sums[0], sums[j]);
  return static_cast<float>(_mm512_cvtsi512_si32(sums[0]));
}

KVPLAN_DOT float byte_quads(std::int64_t rounds) {
  const Unknown unknown;
  const __m512i a = _mm512_set1_epi8(static_cast<char>(unknown.half * 4));
  const __m512i b = _mm512_set1_epi8(static_cast<char>(unknown.small * 2048));
  __m512i sums[kSums];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::int64_t i = 0; i < rounds; ++i)
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, b);
  for (int j = 1; j < kSums; ++j) sums[0] = _mm512_add_epi32(sums[0], sums[j]);
  return static_cast<float>(_mm512_cvtsi512_si32(sums[0]));
}

template <class Product, int... kSum>
KVPLAN_AMX float sums_in_tiles(std::int64_t rounds, std::integer_sequence<int, kSum...>) {
  const tiles::Shapes shapes;
  alignas(64) std::array<float, 256> sums{};
  tiles::load<6>(sums.data());
  tiles::load<7>(sums.data());
  (tiles::clear<kSum>(), ...);
  for (std::int64_t i = 0; i < rounds; ++i) (Product::template add<kSum, 6, 7>(), ...);
  tiles::store<0>(sums.data());
  return sums[0];
}
template <class Product>
KVPLAN_AMX float in_tiles(std::int64_t rounds) {
  return sums_in_tiles<Product>(rounds, std::make_integer_sequence<int, kTileSums>());
}

struct Loop {
  Arithmetic arithmetic;
  Isa isa;
  std::int64_t products;  // of a round
  std::int64_t rounds;    // of a pass
  float (*run)(std::int64_t rounds);
};
// The widest of a kind first.
constexpr std::array kLoops = {
    Loop{Arithmetic::word_tiles, Isa::amx, kTileSums * 256 * 32, kTileRounds,
         in_tiles<tiles::Int8>},
    Loop{Arithmetic::bf16_tiles, Isa::amx, kTileSums * 256 * 32, kTileRounds,
         in_tiles<tiles::Bf16>},
    Loop{Arithmetic::byte_quads, Isa::dot, kSums * 64, kRounds, byte_quads},
    Loop{Arithmetic::word_pairs, Isa::dot, kSums * 32, kRounds, word_pairs},
    Loop{Arithmetic::bf16_pairs, Isa::dot, kSums * 32, kRounds, bf16_pairs},
    Loop{Arithmetic::floats, Isa::avx512, kSums * 16, kRounds, floats_512},
    Loop{Arithmetic::floats, Isa::avx2, kSums * 8, kRounds, floats_256},
    Loop{Arithmetic::floats, Isa::portable, kSums * 16, kRounds, portable},
};

}  // namespace

std::optional<FlopsPerSecond> arithmetic_peak(Team& team, Arithmetic arithmetic, Isa isa) {
  const auto loop = std::find_if(kLoops.begin(), kLoops.end(), [&](const Loop& l) {
    return l.arithmetic == arithmetic && l.isa <= isa;
  });
  if (loop == kLoops.end()) return std::nullopt;
  std::vector<float> results(static_cast<std::size_t>(team.size()));
  const double flops =
      2.0 * static_cast<double>(loop->products * loop->rounds) * static_cast<double>(team.size());
  FlopsPerSecond peak;
  for (int pass = 0, quiet = 0; pass < kMostPasses && quiet < kQuietPasses; ++pass) {
    const Seconds time = team.run([&](int t) { results[t] = loop->run(loop->rounds); });
    peak = std::max(peak, Flops(flops) / time);
    quiet += team.lost().value_or(Seconds(0)) < time * kLost;
  }
  return peak;
}

}  // namespace kvplan
