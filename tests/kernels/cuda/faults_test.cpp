// SPDX-License-Identifier: Apache-2.0
// A test of the tests: every barrier left out and every wait cut short must be noticed.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/cuda/bench.h"
#include "kernels/cuda/emulation/block.h"
#include "kernels/cuda/kernels.h"

using namespace kvplan;

namespace {

// One small problem for each kernel that keeps anything in shared memory.
std::vector<Problem> problems() {
  const Format& bf16 = format_named("bf16");
  const Format& int8 = format_named("int8-head");
  return one_for_class<Problem>({
      DecodeAttentionShape{1, 4, 1, 128, 128, 250, &bf16, &bf16},
      DecodeAttentionShape{1, 4, 1, 192, 192, 250, &bf16, &bf16},  // queries in shared memory
      LatentDecodeShape{1, 20, 512, 64, 130, &bf16, &bf16},
      PrefillAttentionShape{1, 2, 1, 128, 128, 160, 0, &bf16},
      GemmShape{4, 16, 1024, &bf16},
      DecodeAttentionShape{1, 4, 1, 64, 64, 600, &int8, &int8},
  });
}

}  // namespace

TEST_CASE("every barrier of every kernel is needed, and the tests notice when it is left out") {
  for (const Problem& problem : problems()) {
    CAPTURE(problem.index());
    Bench bench;
    REQUIRE(!noticed(bench, problem));
    const std::vector<std::string> barriers = bench.settings.barriers;
    REQUIRE(!barriers.empty());
    for (std::size_t i = 0; i < barriers.size(); ++i) {
      CAPTURE(barriers[i]);
      bench.settings.faults.barrier = static_cast<int>(i);
      CHECK(noticed(bench, problem));
    }
  }
}

TEST_CASE("a wait for copies that is one stage short is noticed") {
  for (const Problem& problem : problems()) {
    if (std::holds_alternative<GemmShape>(problem)) continue;  // loads to registers
    CAPTURE(problem.index());
    Bench bench;
    bench.settings.faults.wait_short = 1;
    CHECK(noticed(bench, problem));
  }
}

TEST_CASE("a kernel that is told of more tokens than there are reads out of bounds") {
  const auto kernels = decode_kernels_cuda();
  const DecodeKernel& kernel = kernels.front();  // 16-bit numbers
  emulation::Settings settings;
  EmulatedGpu gpu(settings);
  const std::int64_t row = kernel.width * 2;
  GpuBuffer cache(gpu, Bytes(32 * row)), small(gpu, Bytes(16 * row)), table(gpu, Bytes(16));
  GpuBuffer rest(gpu, Bytes(4096));
  gpu.set(table.data(), std::byte{0}, table.size());
  DecodeArgs a;
  a.queries = cache.as<std::uint16_t>();
  a.keys = a.values = cache.data();
  a.blocks = table.as<int>();
  a.out = rest.as<std::uint16_t>();
  a.batch = a.heads = a.kv_heads = a.blocks_per_sequence = 1;
  a.context = a.tokens_per_split = 32;
  a.block_shift = 30;
  CHECK_NOTHROW(gpu.launch(kernel.kernel, {}, &a));
  a.keys = small.data();
  CHECK_THROWS_AS(gpu.launch(kernel.kernel, {}, &a), Error);
}
