// SPDX-License-Identifier: Apache-2.0
// Every CUDA kernel × format × shape class against the double-precision reference, on the emulated
// device: host code, kernel sources and the check itself are those that a GPU runs.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/cuda/bench.h"

using namespace kvplan;
using namespace kvplan::emulation;

TEST_CASE("streams read and copy every byte in all variants, each byte once") {
  Bench bench;
  check(bench, StreamShape{Bytes(300 * 1024 + 16)});
  CHECK(bench.settings.counters.bytes_loaded == 3 * (300 * 1024 + 16));
  check(bench, StreamShape{Bytes(200 * 1024 + 16), true});
  CHECK(bench.settings.counters.bytes_stored == 3 * (200 * 1024 + 16));
}

TEST_CASE("a sample replays a recording of at least ten launches on buffers in turn") {
  Bench bench;
  const auto run = bench.backend->prepare(StreamShape{Bytes(256 * kKiB)});
  run->sample();
  bench.settings.counters = {};
  run->sample();
  CHECK(bench.settings.counters.bytes_loaded == 12 * 256 * kKiB);  // whole turns of 3 slots
  const auto launch = bench.backend->prepare(LaunchShape{});
  CHECK(launch->error() == 0);
  CHECK(launch->sample().v > 0);
}

namespace {

void check_all(Bench& bench, const std::vector<Problem>& problems, const std::string& what) {
  for (std::size_t i = 0; i < problems.size(); i += kStride) {
    const std::string where = what + " case " + std::to_string(i);
    CAPTURE(where);
    check(bench, problems[i]);
  }
}

}  // namespace

TEST_CASE("decode attention agrees with the reference for every group, width and format") {
  Bench paged(16), contiguous(0);
  for (const char* name : one_for_class({"bf16", "fp16", "fp8", "int8-head"})) {
    const Format& format = format_named(name);
    std::vector<Problem> problems;
    for (const std::int64_t group : {1, 3, 8, 16})
      problems.push_back(DecodeAttentionShape{2, 2 * group, 2, 128, 128, 197, &format, &format});
    for (const std::int64_t width : {64, 96, 192, 256})
      problems.push_back(DecodeAttentionShape{1, 8, 2, width, width, 133, &format, &format});
    for (const std::int64_t context : {1, 16, 65, 700})  // 700: two splits
      problems.push_back(DecodeAttentionShape{1, 4, 1, 64, 64, context, &format, &format});
    check_all(paged, problems, name);
    check_all(contiguous, {problems[1], problems.back()}, name);
  }
}

TEST_CASE("decode attention reads each byte of the cache once for all queries of a KV head") {
  for (const char* name : one_for_class({"bf16", "fp8", "int8-head"})) {
    const Format& format = format_named(name);
    for (const std::int64_t block_tokens : {16, 64, 0}) {
      Bench bench(block_tokens);
      const DecodeAttentionShape shape{2, 16, 2, 128, 128, 600, &format, &format};
      CAPTURE(name);
      CAPTURE(block_tokens);
      // 2 sequences, 600 tokens, keys and values of 2 heads.
      CHECK(bytes_loaded(bench, shape) == 2 * 600 * 2 * cache_row_bytes(format, 2, 128).n);
    }
  }
}

TEST_CASE("latent decode agrees with the reference for every number of heads, paged or not") {
  Bench paged(16), contiguous(0);
  for (const char* name : one_for_class({"bf16", "fp16"})) {
    const Format& format = format_named(name);
    check_all(paged,
              {LatentDecodeShape{2, 40, 512, 64, 70, &format, &format},
               LatentDecodeShape{1, 16, 512, 64, 150, &format, &format},
               LatentDecodeShape{1, 5, 512, 64, 1, &format, &format},
               LatentDecodeShape{1, 128, 512, 64, 33, &format, &format}},
              name);
    check_all(contiguous, {LatentDecodeShape{1, 16, 512, 64, 600, &format, &format}}, name);
  }
}

TEST_CASE("latent decode reads each token once for up to 32 heads") {
  const Format& bf16 = format_named("bf16");
  Bench bench;
  for (const std::int64_t heads : {16, 32})
    CHECK(bytes_loaded(bench, LatentDecodeShape{2, heads, 512, 64, 530, &bf16, &bf16}) ==
          2 * 530 * 576 * 2);
}

TEST_CASE("prefill attention sees earlier tokens only, in every width") {
  Bench bench;
  for (const char* name : one_for_class({"bf16", "fp16"})) {
    const Format& format = format_named(name);
    std::vector<Problem> problems = {PrefillAttentionShape{2, 3, 1, 128, 128, 33, 41, &format},
                                     PrefillAttentionShape{1, 4, 2, 64, 64, 150, 0, &format},
                                     PrefillAttentionShape{1, 1, 1, 64, 64, 1, 0, &format}};
    for (const std::int64_t width : {96, 192, 256})
      problems.push_back(PrefillAttentionShape{1, 2, 2, width, width, 70, 5, &format});
    check_all(bench, problems, name);
  }
}

TEST_CASE("weight streaming agrees with the reference in every format and number of rows") {
  Bench bench;
  for (const char* name : one_for_class({"bf16", "fp16", "fp8", "int8-channel", "int4-g128"})) {
    const Format& format = format_named(name);
    std::vector<Problem> problems;
    for (const std::int64_t m : {1, 3, 8, 9, 16})
      problems.push_back(GemmShape{m, 37, 384, &format});
    problems.push_back(GemmShape{5, 16, 128, &format});     // less depth than warps
    problems.push_back(GemmShape{1, 1100, 512, &format});   // many rows a block
    problems.push_back(GemmShape{16, 1111, 256, &format});  // likewise, and some are missing
    check_all(bench, problems, name);
  }
}

TEST_CASE("weight streaming reads each weight once") {
  Bench bench;
  for (const char* name : one_for_class({"bf16", "fp8", "int4-g128"})) {
    const Format& format = format_named(name);
    CAPTURE(name);
    CHECK(bytes_loaded(bench, GemmShape{16, 300, 640, &format}) ==
          payload_bytes(format, 300, 640).n);
  }
}

TEST_CASE("products with more rows go to the library, and are held against the reference too") {
  Bench bench;
  for (const char* name : one_for_class({"bf16", "fp16"}))
    check_all(bench, {GemmShape{40, 70, 256, &format_named(name)}}, name);
  CHECK(!bench.backend->prepare(GemmShape{40, 70, 256, &format_named("int4-g128")}));
  CHECK(!bench.backend->prepare(GemmShape{40, 70, 256, &format_named("fp8")}));  // not on sm_80
}

TEST_CASE("a step is its problems one after the other, and none where one has no kernel") {
  Bench bench;
  const Format& bf16 = format_named("bf16");
  const std::vector<Problem> problems = {GemmShape{2, 64, 256, &bf16},
                                         DecodeAttentionShape{2, 4, 2, 64, 64, 48, &bf16, &bf16}};
  const auto step = bench.backend->prepare_step(problems);
  REQUIRE(step);
  CHECK(step->error() <= 1);
  CHECK(step->work().distinct == work_of(std::get<GemmShape>(problems[0])).distinct +
                                     work_of(std::get<DecodeAttentionShape>(problems[1])).distinct);
  step->sample();
  bench.settings.counters = {};
  step->sample();
  // The weights, the cache of 2 sequences, and a flush of the cache (64 KiB) twice over.
  CHECK(bench.settings.counters.bytes_loaded ==
        64 * 256 * 2 + 2 * 48 * 2 * 2 * 64 * 2 + 2 * 64 * 1024);
  CHECK(!bench.backend->prepare_step({problems[0], GemmShape{1, 8, 384, &format_named("q4_0")}}));
}

TEST_CASE("a problem without a kernel is declined, and one that is too large is an error") {
  Bench bench;
  const Format& bf16 = format_named("bf16");
  CHECK(!bench.backend->prepare(GemmShape{1, 8, 384, &format_named("q4_0")}));
  CHECK(!bench.backend->prepare(GemmShape{1, 8, 100, &bf16}));
  CHECK(!bench.backend->prepare(DecodeAttentionShape{1, 17, 1, 128, 128, 64, &bf16, &bf16}));
  CHECK(!bench.backend->prepare(DecodeAttentionShape{1, 8, 1, 80, 80, 64, &bf16, &bf16}));
  CHECK_THROWS_AS(bench.backend->prepare(GemmShape{1, 100000, 4096, &bf16}), Error);
}
