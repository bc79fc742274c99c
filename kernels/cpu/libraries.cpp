// SPDX-License-Identifier: Apache-2.0
// Declarations are those of cblas.h and dnnl.h, so that building does not need the libraries
// either. Of oneDNN, versions 2 and 3 export the product of bf16 beside the documented dnnl_sgemm.
#include "kernels/cpu/libraries.h"

#include <dlfcn.h>

#include <optional>
#include <string_view>

namespace kvplan {
namespace {

// Stays open: libraries with threads of their own cannot be closed.
void* opened(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <class Function>
Function* found(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::optional<GemmLibrary> openblas() {
  using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int,
                     float, float*, int);
  constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
  void* library = opened({"libopenblas.so.0"});
  if (!library) return std::nullopt;
  auto* sgemm = found<Sgemm>(library, "cblas_sgemm");
  auto* set_threads = found<void(int)>(library, "openblas_set_num_threads");
  auto* config = found<const char*()>(library, "openblas_get_config");
  if (!sgemm || !set_threads || !config) return std::nullopt;
  set_threads(1);
  const std::string_view words = config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH …"
  const auto name = words.substr(0, words.find(' ', words.find(' ') + 1));
  return GemmLibrary{std::string(name),
                     [sgemm](const LibraryProduct<float>& p) {
                       const auto n = static_cast<int>(p.n), m = static_cast<int>(p.m),
                                  k = static_cast<int>(p.k);
                       sgemm(kRowMajor, kPlain, kTransposed, n, m, k, 1, p.w, k, p.x,
                             static_cast<int>(p.x_stride), 0, p.y, static_cast<int>(p.y_stride));
                       return true;
                     },
                     {}};
}

std::optional<GemmLibrary> onednn() {
  using Size = std::int64_t;
  struct Version {
    int major, minor, patch;
  };
  using Sgemm = int(char, char, Size, Size, Size, float, const float*, Size, const float*, Size,
                    float, float*, Size);
  using Bgemm = int(char, char, Size, Size, Size, float, const std::uint16_t*, Size,
                    const std::uint16_t*, Size, float, float*, Size);
  void* library = opened({"libdnnl.so.3", "libdnnl.so.2"});
  if (!library) return std::nullopt;
  auto* sgemm = found<Sgemm>(library, "dnnl_sgemm");
  auto* bgemm = found<Bgemm>(library, "dnnl_gemm_bf16bf16f32");
  auto* version = found<const Version*()>(library, "dnnl_version");
  auto* instructions = found<std::uint32_t()>(library, "dnnl_get_effective_cpu_isa");
  // Of the OpenMP that it runs on, which makes a team for each thread that calls.
  auto* set_threads = found<void(int)>(library, "omp_set_num_threads");
  if (!sgemm || !version || !set_threads) return std::nullopt;
  const auto product = [set_threads](auto* gemm) {
    return [gemm, set_threads](const auto& p) {
      set_threads(1);  // of this thread
      return gemm('N', 'T', p.n, p.m, p.k, 1, p.w, p.k, p.x, p.x_stride, 0, p.y, p.y_stride) == 0;
    };
  };
  const bool amx = instructions && has_amx(instructions());
  GemmLibrary found{"oneDNN " + std::to_string(version()->major) + "." +
                        std::to_string(version()->minor) + (amx ? " with AMX" : ""),
                    product(sgemm),
                    {},
                    amx};
  if (bgemm) found.bf16 = product(bgemm);
  return found;
}

struct Looked {
  std::vector<GemmLibrary> libraries;
  std::vector<std::string> missing;

  void keep(std::optional<GemmLibrary> library, const char* name, const char* files) {
    if (library)
      libraries.push_back(std::move(*library));
    else
      missing.push_back(std::string(name) + " (" + files +
                        ") is not here: products of many rows may be slower than they could be");
  }
};

const Looked& looked() {
  static const Looked all = [] {
    Looked l;
    l.keep(onednn(), "oneDNN", "libdnnl.so.2 or .3");
    l.keep(openblas(), "OpenBLAS", "libopenblas.so.0");
    return l;
  }();
  return all;
}

}  // namespace

bool has_amx(std::uint32_t onednn_isa) {
  // dnnl_cpu_isa_avx512_core_amx in dnnl_types.h of 2.6, and since 3.0, where later ones include
  // it.
  constexpr std::uint32_t kOfVersion2 = 0x3e7, kOfVersion3 = 0xfef;
  return onednn_isa == kOfVersion2 || (onednn_isa & kOfVersion3) == kOfVersion3;
}

const std::vector<GemmLibrary>& gemm_libraries() { return looked().libraries; }
std::vector<std::string> missing_gemm_libraries() { return looked().missing; }

}  // namespace kvplan
