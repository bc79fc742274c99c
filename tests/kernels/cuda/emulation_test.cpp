// SPDX-License-Identifier: Apache-2.0
// The emulation finds the mistakes that it is there to find: small kernels, each with one.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>

#include "kernels/cuda/port.cuh"

using namespace kvplan;
using namespace kvplan::emulation;

namespace {

constexpr std::int64_t kShared = 4096;

// What the emulation says of a block of `threads`; empty: nothing.
std::string complaint(int threads, const std::function<void()>& body) {
  Settings settings;
  try {
    launch({}, threads, kShared, settings, body);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

float* place(int i) { return reinterpret_cast<float*>(shared_memory()) + i; }

}  // namespace

TEST_CASE("threads exchange numbers through shared memory and shuffles") {
  std::array<float, 64> out{};
  const std::string said = complaint(64, [&] {
    const int i = thread_index();
    shared_store(place(i), static_cast<float>(i));
    block_barrier();
    out[static_cast<std::size_t>(i)] =
        shared_load(place(63 - i)) + shuffle_xor(static_cast<float>(i), 1);
  });
  CHECK(said == "");
  CHECK(out[0] == 63 + 1);
  CHECK(out[63] == 0 + 62);
}

TEST_CASE("a missing barrier is a race, whichever thread runs first") {
  CHECK(says(complaint(64,
                       [] {
                         const int i = thread_index();
                         shared_store(place(i), 1.0f);
                         warp_barrier();
                         shared_load(place(63 - i));
                       }),
             "race in shared memory"));
  CHECK(says(complaint(32,
                       [] {
                         const int i = thread_index();
                         shared_store(place(i), 1.0f);
                         warp_barrier();
                         shared_load(place(31 - i));
                         shared_store(place(i), 2.0f);
                       }),
             "race in shared memory"));
}

TEST_CASE("shuffles order no memory") {
  CHECK(says(complaint(32,
                       [] {
                         const int i = thread_index();
                         shared_store(place(i), 1.0f);
                         shuffle_xor(1.0f, 1);
                         shared_load(place(31 - i));
                       }),
             "race in shared memory"));
}

TEST_CASE("a copy is not there before it was waited for") {
  alignas(16) static std::array<Chunk, 32> source{};
  const auto copies = [](bool wait) {
    auto* to = reinterpret_cast<Chunk*>(shared_memory()) + thread_index();
    copy_async(to, &source[static_cast<std::size_t>(thread_index())], true);
    copy_commit();
    if (wait) copy_wait<0>();
    shared_load(to);
    copy_wait<0>();
  };
  CHECK(complaint(32, [&] { copies(true); }) == "");
  CHECK(says(complaint(32, [&] { copies(false); }), "was not waited for"));
}

TEST_CASE("threads that meet in different places, or never, are reported") {
  CHECK(says(complaint(32,
                       [] {
                         if (thread_index() < 16)
                           shuffle_xor(1.0f, 1);
                         else
                           warp_barrier();
                       }),
             "threads meet in different places"));
  CHECK(says(complaint(64,
                       [] {
                         if (thread_index() < 32) block_barrier();
                       }),
             "deadlock: thread"));
}

TEST_CASE("shared and device memory have bounds") {
  CHECK(says(complaint(32, [] { shared_load(place(kShared / 4)); }), "out of bounds"));
  alignas(16) std::array<Chunk, 2> memory{};
  Settings settings;
  settings.memory[reinterpret_cast<std::uintptr_t>(memory.data())] = sizeof(Chunk);
  CHECK_NOTHROW(launch({}, 32, 0, settings, [&] { load_stream(&memory[0]); }));
  CHECK_THROWS(launch({}, 32, 0, settings, [&] { load_stream(&memory[1]); }));
}

TEST_CASE("matrices whose rows share banks are counted") {
  Settings settings;
  const auto load = [](int stride) {
    return [stride] {
      auto* at = shared_memory() + thread_index() * stride;
      shared_store(reinterpret_cast<Chunk*>(at), Chunk{});
      warp_barrier();
      std::uint32_t r[4];
      load_matrices<false>(r, at);
    };
  };
  launch({}, 32, kShared, settings, load(16));
  CHECK(settings.counters.matrix_loads == 4);
  CHECK(settings.counters.bank_conflicts == 0);
  launch({}, 32, kShared, settings, load(128));
  CHECK(settings.counters.bank_conflicts == 4);
}

TEST_CASE("a product of fragments is the product of the matrices that PTX lays out so") {
  // a[row][k] = row + 1 for k = 3, else 0; b[k][column] = column - 4 for k = 3, else 1.
  std::array<std::array<float, 4>, 32> result{};
  const std::string said = complaint(32, [&] {
    const int quad = thread_index() / 4, place_in_quad = thread_index() % 4;
    const bool has_k3 = place_in_quad == 1;  // k = 2, 3
    const auto row = static_cast<float>(quad + 1), column = static_cast<float>(quad - 4);
    const std::uint32_t a[4] = {pack<Fp16>(0, has_k3 ? row : 0),
                                pack<Fp16>(0, has_k3 ? row + 8 : 0), 0, 0};
    float c[4] = {1, 1, 1, 1};
    multiply<Fp16>(c, a, pack<Fp16>(1, has_k3 ? column : 1), pack<Fp16>(1, 1));
    for (std::size_t i = 0; i < 4; ++i) result[static_cast<std::size_t>(thread_index())][i] = c[i];
  });
  CHECK(said == "");
  CHECK(result[0][0] == 1 + 1 * (0 - 4));
  CHECK(result[0][1] == 1 + 1 * (1 - 4));
  CHECK(result[4 * 2 + 3][2] == 1 + (2 + 9) * (6 - 4));  // row 10, column 6
}
