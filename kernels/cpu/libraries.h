// SPDX-License-Identifier: Apache-2.0
// Matrix products of libraries that a machine may have, opened at run time: linked ones would stop
// the program from starting elsewhere.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvplan {

// y[n][y_stride] = w[n][k] · x[m][x_stride]ᵀ.
template <class T>
struct LibraryProduct {
  const T* w = nullptr;
  const T* x = nullptr;
  float* y = nullptr;
  std::int64_t n = 0, m = 0, k = 0, x_stride = 0, y_stride = 0;
};

// By the calling thread alone: a team shares the rows of w. False when the library declines.
struct GemmLibrary {
  std::string name;  // "OpenBLAS 0.3.21"
  std::function<bool(const LibraryProduct<float>&)> floats;
  std::function<bool(const LibraryProduct<std::uint16_t>&)> bf16;  // empty: it has none
  bool tiles = false;                                              // bf16 is multiplied by AMX
};

// Whether oneDNN, which says so by number, multiplies bf16 in the tiles of AMX here.
bool has_amx(std::uint32_t onednn_isa);

// oneDNN and OpenBLAS, as far as they are installed; opened at the first call.
const std::vector<GemmLibrary>& gemm_libraries();
// Those that are not, each with what that costs.
std::vector<std::string> missing_gemm_libraries();

}  // namespace kvplan
