// SPDX-License-Identifier: Apache-2.0
// Every kernel × format × instruction set of this machine against the double-precision reference.
// The numbers come from the arena, outputs are poisoned first, and nothing here looks at a clock.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/gemv.h"
#include "kernels/cpu/libraries.h"
#include "kernels/cpu/usage.h"
#include "kernels/problem.h"

using namespace kvplan;

namespace {

// Sanitizers cost a factor of ten: there one shape of a list stands for the class.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStride = 100;
#else
constexpr std::size_t kStride = 1;
#endif

// Three threads, so that shares end within sequences and rows do not divide.
std::unique_ptr<Backend> backend_at(Isa isa) {
  return cpu_backend({.threads = 3, .buffers = Bytes(24 * kMiB), .isa = isa});
}

void check_on_all(const std::vector<Problem>& problems, const std::string& what) {
  for (const Isa isa : usable_isas()) {
    const auto backend = backend_at(isa);
    for (std::size_t i = 0; i < problems.size(); i += kStride) {
      const auto run = backend->prepare(problems[i]);
      const std::string where =
          what + " case " + std::to_string(i) + " at " + std::string(name_of(isa));
      CAPTURE(where);
      REQUIRE(run);
      CHECK(run->error() <= 1);
      CHECK(run->error() <= 1);  // again, from the next buffer
    }
  }
}

}  // namespace

TEST_CASE("weight streaming agrees with the reference in every format and number of rows") {
  for (const char* name : {"fp32", "bf16", "fp16", "fp8", "int8-channel", "int4-g128"}) {
    const Format& format = format_named(name);
    std::vector<Problem> problems;
    for (const std::int64_t m : {1, 2, 3, 5, 8, 13, 16})
      problems.push_back(GemmShape{m, 37, 384, &format});
    problems.push_back(GemmShape{1, 5, 8192, &format});  // several rows together
    problems.push_back(GemmShape{4, 19, 4096, &format});
    problems.push_back(GemmShape{1, 57, 10240, &format});  // x in pieces
    problems.push_back(GemmShape{2, 57, 8320, &format});
    problems.push_back(GemmShape{40, 70, 2176, &format});  // more rows than stream
    check_on_all(problems, name);
  }
}

TEST_CASE("tiles meet rows of x in blocks, columns in pieces and rows of weights in chunks") {
  if (best_isa() < Isa::amx) {
    MESSAGE("skipped: this CPU has no AMX, or its system does not permit it");
    return;
  }
  const auto backend = backend_at(Isa::amx);
  for (const char* name : {"bf16", "fp16", "fp8", "int8-channel", "int4-g128"})
    for (const std::int64_t m : {6, 24, 33, 90, 150}) {
      CAPTURE(name);
      CAPTURE(m);
      // Of 140 rows for each thread, 128 are a chunk; pieces have 2,048 or 4,096 columns.
      for (const GemmShape& shape : {GemmShape{m, 420, 2176, &format_named(name)},
                                     GemmShape{m, 53, 8320, &format_named(name)}}) {
        const auto run = backend->prepare(shape);
        REQUIRE(run);
        CHECK(run->error() <= 1);
      }
    }
}

TEST_CASE("weights in ggml's blocks agree with the reference at every instruction set") {
  for (const char* name : {"q8_0", "q4_0", "q4_k", "q5_k", "q6_k", "q2_k", "q3_k"}) {
    const Format& format = format_named(name);
    std::vector<Problem> problems;
    for (const std::int64_t m : {1, 2, 3, 5, 8, 13, 16})
      problems.push_back(GemmShape{m, 37, 512, &format});
    problems.push_back(GemmShape{8, 19, 4096, &format});  // x in pieces
    problems.push_back(GemmShape{2, 9, 8448, &format});
    problems.push_back(GemmShape{40, 70, 2304, &format});  // more rows than stream
    check_on_all(problems, name);
  }
}

TEST_CASE(
    "activations are rounded to the nearest of 8 bits in blocks of 256, in every order alike") {
  const std::int64_t rows = 11, k = 768;
  const Activations x(activations(static_cast<std::size_t>(rows * k), 3, 4.0f), rows, k);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < k; ++i) {
      const ByteBlock block = x.byte_block(row, i / kByteBlock);
      const std::int64_t at = i % kByteBlock;
      const float exact = x.fp32[static_cast<std::size_t>(row * x.stride + i)];
      CHECK(std::abs(exact - block.step * block.numbers[at]) <= block.step * 0.5001f);
      CHECK(block.lanes[at % 16 / 4 * 64 + at / 16 * 4 + at % 4] == block.numbers[at]);
    }
  const ByteBlock last = x.byte_block(rows - 1, 2);
  CHECK(std::accumulate(last.numbers + 240, last.numbers + 256, 0.0f) == last.sums[15]);
  CHECK(*std::max_element(last.numbers, last.numbers + 256) <= 127);
}

TEST_CASE("products of many rows agree with the reference in every library that is installed") {
  if (gemm_libraries().empty()) MESSAGE("skipped: neither oneDNN nor OpenBLAS is installed");
  const auto backend = backend_at(best_isa());
  for (const char* name : {"bf16", "fp32"})
    for (const std::int64_t m : {17, 40}) {
      const auto run = backend->prepare(GemmShape{m, 70, 2176, &format_named(name)});
      REQUIRE(run);
      CHECK(run->error() <= 1);
      run->sample();
      CAPTURE(run->description());
      CHECK(run->description().find("errs") == std::string::npos);
      const std::size_t ways = 1 + gemm_libraries().size();
      if (ways > 1) CHECK(run->description().ends_with("(best of " + std::to_string(ways) + ")"));
    }
}

TEST_CASE("the number by which oneDNN names its instructions tells whether it has AMX") {
  // dnnl_types.h: avx512_core_bf16, avx512_core_amx and avx2_vnni of 2.6; avx512_core_fp16,
  // avx512_core_amx and avx512_core_amx_fp16 of 3.
  CHECK(!has_amx(0xe7));
  CHECK(has_amx(0x3e7));
  CHECK(!has_amx(0x407));
  CHECK(!has_amx(0x1ef));
  CHECK(has_amx(0xfef));
  CHECK(has_amx(0x1fef));
}

TEST_CASE("decode attention agrees with the reference for every group, width and format") {
  for (const char* name : {"fp32", "bf16", "fp16", "fp8", "int8-head"}) {
    const Format& format = format_named(name);
    std::vector<Problem> problems;
    for (const std::int64_t group : {1, 2, 3, 5, 8, 16})
      problems.push_back(DecodeAttentionShape{2, 2 * group, 2, 128, 128, 197, &format, &format});
    for (const std::int64_t width : {64, 96, 192, 256})
      problems.push_back(DecodeAttentionShape{1, 8, 2, width, width, 133, &format, &format});
    for (const std::int64_t heads : {40, 66})  // several blocks of queries
      problems.push_back(DecodeAttentionShape{1, heads, 2, 128, 64, 300, &format, &format});
    for (const std::int64_t context : {1, 7, 64, 65})
      problems.push_back(DecodeAttentionShape{3, 4, 1, 64, 64, context, &format, &format});
    check_on_all(problems, name);
  }
}

// Scores that err by 2^-15 of the query's largest number are seen beside weights in bf16.
TEST_CASE("scores of int8 keys err less than weights do by their rounding") {
  const Format& format = format_named("int8-head");
  std::vector<Problem> problems;
  for (const std::int64_t batch : {1, 4})
    for (const std::int64_t width : {64, 128})
      for (const std::int64_t context : {128, 512, 2048})
        problems.push_back(
            DecodeAttentionShape{batch, 32, 8, width, width, context, &format, &format});
  check_on_all(problems, "int8-head");
}

TEST_CASE("latent decode agrees with the reference") {
  const Format& bf16 = format_named("bf16");
  check_on_all({LatentDecodeShape{1, 16, 512, 64, 150, &bf16, &bf16},
                LatentDecodeShape{2, 40, 512, 64, 70, &bf16, &bf16}},
               "latent");
}

TEST_CASE("prefill attention sees earlier tokens only") {
  for (const char* name : {"bf16", "fp16"}) {
    const Format& format = format_named(name);
    check_on_all({PrefillAttentionShape{1, 4, 2, 64, 64, 75, 0, &format},
                  PrefillAttentionShape{2, 3, 1, 128, 128, 33, 41, &format},
                  PrefillAttentionShape{1, 5, 1, 64, 64, 61, 100, &format},
                  PrefillAttentionShape{1, 2, 2, 96, 96, 1, 0, &format}},
                 name);
  }
}

TEST_CASE("streams read and copy every byte in all variants") {
  check_on_all({StreamShape{Bytes(kMiB + 12288)}, StreamShape{Bytes(kMiB), true}, LaunchShape{}},
               "streams");
}

TEST_CASE("the bytes of a run are those that the planner counts") {
  const auto backend = backend_at(best_isa());
  const Format& bf16 = format_named("bf16");
  const DecodeAttentionShape shape{2, 8, 2, 128, 128, 100, &bf16, &bf16};
  CHECK(backend->prepare(shape)->work().distinct == work_of(shape).distinct);
  // 2 sequences of 100 tokens, 2 heads, K and V of 128 numbers of 2 bytes; q and the output.
  CHECK(work_of(shape).distinct.n == 2 * 100 * 2 * 2 * 128 * 2 + 2 * 8 * 2 * 128 * 2);
}

TEST_CASE("a step runs its problems one after the other, each correctly and on its own bytes") {
  const auto backend = backend_at(best_isa());
  const Format& bf16 = format_named("bf16");
  const GemmShape product{2, 64, 512, &bf16};
  const DecodeAttentionShape attention{2, 8, 2, 64, 64, 70, &bf16, &bf16};
  const auto step = backend->prepare_step({product, attention, product});
  REQUIRE(step);
  CHECK(step->error() <= 1);
  CHECK(step->sample() > Seconds(0));
  CHECK(step->error() <= 1);
  CHECK(step->work().distinct == work_of(product).distinct * 2 + work_of(attention).distinct);
  CHECK(!backend->prepare_step({product, GemmShape{1, 8, 100, &bf16}}));
}

TEST_CASE("what the products of a kernel are made of has a peak at its instruction set") {
  for (const Isa isa : usable_isas()) {
    const auto backend = backend_at(isa);
    CHECK(backend->peak(Arithmetic::floats).value() > FlopsPerSecond(1e8));
    for (const Arithmetic one : {Arithmetic::bf16_pairs, Arithmetic::byte_quads})
      CHECK(backend->peak(one).has_value() == (isa >= Isa::dot));
    for (const Arithmetic one : {Arithmetic::bf16_tiles, Arithmetic::word_tiles})
      CHECK(backend->peak(one).has_value() == (isa == Isa::amx));
    for (const char* name : {"bf16", "fp16", "int8-channel", "int4-g128"}) {
      const auto run = backend->prepare(GemmShape{8, 64, 256, &format_named(name)});
      run->sample();  // of several ways to do it the fastest is known then
      REQUIRE(run->arithmetic());
      CHECK(backend->peak(*run->arithmetic()));
    }
    const Format& bf16 = format_named("bf16");
    CHECK(backend->prepare(DecodeAttentionShape{1, 8, 1, 64, 64, 70, &bf16, &bf16})->arithmetic() ==
          (isa == Isa::amx   ? Arithmetic::bf16_tiles
           : isa == Isa::dot ? Arithmetic::bf16_pairs
                             : Arithmetic::floats));
  }
}

TEST_CASE("the load of others is what was busy and not for this process") {
  // 4 processors for 10 s: others had 30 of 100 seconds before, 50 of 140 now.
  const Usage before{Seconds(100), Seconds(30)}, after{Seconds(140), Seconds(50)};
  CHECK(other_load_between(before, after) == doctest::Approx(0.5));
  CHECK(other_load_between(before, before) == 0);
  CHECK(clock_of_this_thread() > Hertz(1e8));
}

TEST_CASE("a problem without a kernel is declined, and one that is too large is an error") {
  const auto backend = backend_at(best_isa());
  CHECK(!backend->prepare(GemmShape{1, 8, 384, &format_named("q4_k")}));
  CHECK(!backend->prepare(GemmShape{1, 8, 256, &format_named("iq1_s")}));
  CHECK(!backend->prepare(GemmShape{1, 8, 100, &format_named("bf16")}));
  CHECK_THROWS_AS(backend->prepare(GemmShape{1, 100000, 4096, &format_named("bf16")}), Error);
}

TEST_CASE("backends are listed in order of preference, each present or with a reason") {
  const auto choices = all_backends();
  REQUIRE(choices.size() >= 2);
  CHECK(choices.front().name == "cuda");
  CHECK(choices.back().name == "cpu");
  for (const BackendChoice& choice : choices) CHECK((choice.backend || !choice.why_not.empty()));
}

TEST_CASE("the local CPU is named, and its memory is known") {
  const DeviceSpec device = all_backends().back().backend->device();
  CHECK(!device.name.empty());
  CHECK(device.kind == "cpu");
  CHECK(device.memory.value > Bytes(kMiB));
  CHECK(device.processors.value_or(0) >= 1);
}
