// SPDX-License-Identifier: Apache-2.0
// Which instructions this CPU has, in five steps. A kernel exists for some steps and runs on the
// highest that is both built and present.
#pragma once
#include <string_view>
#include <vector>

// Attributes of functions that use instructions of a step; the rest of a file stays portable.
#define KVPLAN_AVX2 [[gnu::target("avx2,fma,f16c")]]
#define KVPLAN_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]]
#define KVPLAN_DOT \
  [[gnu::target(   \
      "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,avx512bf16,avx2,fma,f16c")]]
#define KVPLAN_AMX                                                                           \
  [[gnu::target(                                                                             \
      "amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni," \
      "avx512bf16,avx2,fma,f16c")]]

namespace kvplan {

enum class Isa {
  portable,  // plain C++
  avx2,      // the same, vectorised by the compiler for 256 bits
  avx512,    // written for 512 bits
  dot,       // and with products of bf16 (AVX512_BF16) and of bytes (VNNI), tables of bytes (VBMI)
  amx,       // and with products of tiles of bf16 and of bytes, which the system must permit
};

std::string_view name_of(Isa);
// The highest step of this CPU. Asks the system, once, to permit tiles to all threads.
Isa best_isa();
// All steps that this CPU can run, lowest first.
std::vector<Isa> usable_isas();

}  // namespace kvplan
