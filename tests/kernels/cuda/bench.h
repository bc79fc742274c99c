// SPDX-License-Identifier: Apache-2.0
// The CUDA backend on an emulated device, and what a problem must show there.
#pragma once
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/emulated_gpu.h"

namespace kvplan {

// Sanitizers cost a factor of ten: there the first of a list stands for the class.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStride = 100;
#else
constexpr std::size_t kStride = 1;
#endif

template <class T>
std::vector<T> one_for_class(std::initializer_list<T> all) {
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += kStride) some.push_back(all.begin()[i]);
  return some;
}

struct Bench {
  explicit Bench(std::int64_t block_tokens = 16)
      : backend(gpu_backend([this] { return std::make_unique<EmulatedGpu>(settings); },
                            {.buffers = Bytes(8 * kMiB), .block_tokens = block_tokens})) {}

  emulation::Settings settings;
  std::unique_ptr<Backend> backend;
};

// Right in both orders of threads, without bank conflicts; counters are of the second pass.
inline void check(Bench& bench, const Problem& problem) {
  const auto run = bench.backend->prepare(problem);
  REQUIRE(run);
  CAPTURE(run->description());
  for (const bool descending : {false, true}) {
    bench.settings.descending = descending;
    bench.settings.counters = {};
    CHECK(run->error() <= 1);
    CHECK(bench.settings.counters.bank_conflicts == 0);
  }
}

// Bytes that one run loads by streaming loads and copies.
inline std::int64_t bytes_loaded(Bench& bench, const Problem& problem) {
  const auto run = bench.backend->prepare(problem);
  REQUIRE(run);
  bench.settings.counters = {};
  run->error();
  return static_cast<std::int64_t>(bench.settings.counters.bytes_loaded);
}

// Whether a run is found wrong: by its result, or by the emulation.
inline bool noticed(Bench& bench, const Problem& problem) {
  try {
    return bench.backend->prepare(problem)->error() > 1;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace kvplan
