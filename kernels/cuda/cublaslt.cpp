// SPDX-License-Identifier: Apache-2.0
// Declarations and values are those of cublasLt.h and library_types.h (CUDA 12 and 13), so that
// building does not need the library either.
#include "kernels/cuda/cublaslt.h"

#include <dlfcn.h>

#include "error.h"

namespace kvplan {
namespace {

using Handle = void*;
using Description = void*;
using Layout = void*;
using Preference = void*;
struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

constexpr int kFloat = 0, kHalf = 2, kBfloat = 14, kE4m3 = 28;  // cudaDataType
constexpr int kCompute32 = 68;                                  // CUBLAS_COMPUTE_32F
constexpr int kTransposeA = 3;                                  // CUBLASLT_MATMUL_DESC_TRANSA
constexpr int kWorkspaceBytes = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
constexpr int kTransposed = 1;      // CUBLAS_OP_T

struct Library {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*description_create)(Description*, int, int);
  int (*description_set)(Description, int, const void*, std::size_t);
  int (*description_destroy)(Description);
  int (*layout_create)(Layout*, int, std::uint64_t, std::uint64_t, std::int64_t);
  int (*layout_destroy)(Layout);
  int (*preference_create)(Preference*);
  int (*preference_set)(Preference, int, const void*, std::size_t);
  int (*preference_destroy)(Preference);
  int (*heuristic)(Handle, Description, Layout, Layout, Layout, Layout, Preference, int, Heuristic*,
                   int*);
  int (*multiply)(Handle, Description, const void*, const void*, Layout, const void*, Layout,
                  const void*, const void*, Layout, void*, Layout, const Algorithm*, void*,
                  std::size_t, void*);
};

void check(int status, const char* what) {
  if (status != 0)
    throw Error(std::string("cuBLASLt: ") + what + " failed with status " + std::to_string(status));
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* from, Library& l) {
  return find(from, "cublasLtCreate", l.create) && find(from, "cublasLtDestroy", l.destroy) &&
         find(from, "cublasLtMatmulDescCreate", l.description_create) &&
         find(from, "cublasLtMatmulDescSetAttribute", l.description_set) &&
         find(from, "cublasLtMatmulDescDestroy", l.description_destroy) &&
         find(from, "cublasLtMatrixLayoutCreate", l.layout_create) &&
         find(from, "cublasLtMatrixLayoutDestroy", l.layout_destroy) &&
         find(from, "cublasLtMatmulPreferenceCreate", l.preference_create) &&
         find(from, "cublasLtMatmulPreferenceSetAttribute", l.preference_set) &&
         find(from, "cublasLtMatmulPreferenceDestroy", l.preference_destroy) &&
         find(from, "cublasLtMatmulAlgoGetHeuristic", l.heuristic) &&
         find(from, "cublasLtMatmul", l.multiply);
}

// cuBLAS thinks in columns: yᵀ[n, m] = Wᵀ[k, n]ᵀ · xᵀ[k, m].
class Plan : public GemmPlan {
 public:
  Plan(const Library& library, Handle handle, const GemmSpec& spec, void* stream,
       std::byte* workspace, std::size_t workspace_bytes)
      : l_(library),
        handle_(handle),
        stream_(stream),
        workspace_(workspace),
        workspace_bytes_(workspace_bytes) {
    const int in = spec.type == GemmSpec::fp16   ? kHalf
                   : spec.type == GemmSpec::bf16 ? kBfloat
                                                 : kE4m3;
    const int out = spec.type == GemmSpec::fp16 ? kHalf : kBfloat;
    const auto m = static_cast<std::uint64_t>(spec.m), n = static_cast<std::uint64_t>(spec.n),
               k = static_cast<std::uint64_t>(spec.k);
    check(l_.description_create(&description_, kCompute32, kFloat), "description");
    check(l_.description_set(description_, kTransposeA, &kTransposed, sizeof(kTransposed)),
          "description");
    check(l_.layout_create(&w_, in, k, n, spec.k), "layout");
    check(l_.layout_create(&x_, in, k, m, spec.k), "layout");
    check(l_.layout_create(&y_, out, n, m, spec.n), "layout");
    Preference preference = nullptr;
    check(l_.preference_create(&preference), "preference");
    l_.preference_set(preference, kWorkspaceBytes, &workspace_bytes_, sizeof(workspace_bytes_));
    int found = 0;
    const int status =
        l_.heuristic(handle_, description_, w_, x_, y_, y_, preference, 1, &best_, &found);
    l_.preference_destroy(preference);
    usable_ = status == 0 && found > 0 && best_.state == 0;
  }
  ~Plan() override {
    if (y_) l_.layout_destroy(y_);
    if (x_) l_.layout_destroy(x_);
    if (w_) l_.layout_destroy(w_);
    if (description_) l_.description_destroy(description_);
  }
  Plan(const Plan&) = delete;  // owns the descriptions
  Plan& operator=(const Plan&) = delete;

  bool usable() const { return usable_; }
  void enqueue(const std::byte* w, const std::byte* x, std::byte* y) override {
    const float one = 1, zero = 0;
    check(l_.multiply(handle_, description_, &one, w, w_, x, x_, &zero, y, y_, y, y_,
                      &best_.algorithm, workspace_, workspace_bytes_, stream_),
          "product");
  }
  std::string description() const override { return "cuBLASLt, its first choice"; }

 private:
  const Library& l_;
  Handle handle_;
  void* stream_;
  std::byte* workspace_;
  std::size_t workspace_bytes_;
  Description description_ = nullptr;
  Layout w_ = nullptr, x_ = nullptr, y_ = nullptr;
  Heuristic best_ = {};
  bool usable_ = false;
};

class Opened : public CublasLt {
 public:
  explicit Opened(const Library& library) : l_(library) { check(l_.create(&handle_), "start"); }
  ~Opened() override { l_.destroy(handle_); }
  Opened(const Opened&) = delete;  // owns the handle
  Opened& operator=(const Opened&) = delete;

  std::unique_ptr<GemmPlan> plan(const GemmSpec& spec, void* stream, std::byte* workspace,
                                 std::size_t workspace_bytes) override {
    auto plan = std::make_unique<Plan>(l_, handle_, spec, stream, workspace, workspace_bytes);
    if (!plan->usable()) return nullptr;
    return plan;
  }

 private:
  Library l_;
  Handle handle_ = nullptr;
};

}  // namespace

std::unique_ptr<CublasLt> CublasLt::open(int major) {
  const std::string name = "libcublasLt.so." + std::to_string(major);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open
  Library functions{};
  if (!library || !find_all(library, functions)) return nullptr;
  return std::make_unique<Opened>(functions);
}

}  // namespace kvplan
