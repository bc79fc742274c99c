// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/isa.h"

namespace kvplan {
namespace {

// Every CPU with AVX2 has F16C, for which clang 14 has no name here.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has_dot() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi");
}

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return "portable";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::dot:
      return "avx512-bf16-vnni";
  }
  return "portable";
}

Isa best_isa() {
  if (has_dot()) return Isa::dot;
  if (has_avx512()) return Isa::avx512;
  return has_avx2() ? Isa::avx2 : Isa::portable;
}

std::vector<Isa> usable_isas() {
  std::vector<Isa> usable;
  for (int step = 0; step <= static_cast<int>(best_isa()); ++step)
    usable.push_back(static_cast<Isa>(step));
  return usable;
}

}  // namespace kvplan
