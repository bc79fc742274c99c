// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/isa.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

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
// Bits of EDX of leaf 7, for which clang 14 has no names: AMX-BF16, AMX-TILE, AMX-INT8.
bool has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kNeeded = 1u << 22 | 1u << 24 | 1u << 25;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kNeeded) == kNeeded;
}
// Linux, Documentation/arch/x86/xstate: tiles are 8 KiB that a process asks for. A kernel that
// cannot keep them declines.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
bool has_amx() {
  static const bool has = has_dot() && has_tiles() && may_use_tiles();
  return has;
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
    case Isa::amx:
      return "amx-bf16-int8";
  }
  return "portable";
}

Isa best_isa() {
  if (has_amx()) return Isa::amx;
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
