// SPDX-License-Identifier: Apache-2.0
// Device primitives as PTX (ISA 8). Before sm_80 there are no asynchronous copies (plain copies
// take their place), tensor cores take half the depth, and there is no bf16: backends decline that.
#pragma once
#include <cuda_fp16.h>

#include <type_traits>

#include "kernels/cuda/port.cuh"

namespace kvplan {

template <auto kFunction, class Args>
Kernel kernel_of(const char* name, int threads, std::int64_t shared_bytes) {
  return {name, reinterpret_cast<void (*)()>(kFunction), threads, shared_bytes};
}

// Whether the device that is compiled for can run a kernel: where not, its body is left out.
template <class Operand, int kSharedBytes>
__device__ constexpr bool runs_here() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return std::is_same_v<Operand, Fp16> && kSharedBytes <= 64 * 1024;
#else
  return true;
#endif
}

// Likewise where a kernel is made for asynchronous copies; Operand only makes it dependent.
template <class Operand>
__device__ constexpr bool copies_here() {
  return runs_here<Bf16, 0>();
}

__device__ __forceinline__ int thread_index() { return static_cast<int>(threadIdx.x); }
__device__ __forceinline__ Grid block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
__device__ __forceinline__ Grid grid_size() { return {gridDim.x, gridDim.y, gridDim.z}; }

__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return bytes;
}
template <class T>
__device__ __forceinline__ T shared_load(const T* from) {
  return *from;
}
template <class T>
__device__ __forceinline__ void shared_store(T* to, T value) {
  *to = value;
}

__device__ __forceinline__ void block_barrier() { __syncthreads(); }
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }
__device__ __forceinline__ float shuffle_xor(float value, int mask) {
  return __shfl_xor_sync(~0u, value, mask);
}

// 16 bytes that are read once: past the first-level cache.
__device__ __forceinline__ Chunk load_stream(const void* from) {
  Chunk c;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.word[0]), "=r"(c.word[1]), "=r"(c.word[2]), "=r"(c.word[3])
               : "l"(from));
  return c;
}
__device__ __forceinline__ void store_stream(void* to, const Chunk& c) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(c.word[0]),
               "r"(c.word[1]), "r"(c.word[2]), "r"(c.word[3])
               : "memory");
}

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// 16 bytes from device to shared memory; zeros, without a read, where not `valid`.
__device__ __forceinline__ void copy_async(void* to, const void* from, bool valid) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(from), "r"(valid ? 16 : 0)
               : "memory");
#else
  *static_cast<Chunk*>(to) = valid ? *static_cast<const Chunk*>(from) : Chunk{};
#endif
}
__device__ __forceinline__ void copy_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until at most kGroups groups of this thread are in flight.
template <int kGroups>
__device__ __forceinline__ void copy_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

// Four 8 x 8 matrices of 16-bit numbers; lane i brings the address of row i % 8 of matrix i / 8.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(std::uint32_t (&r)[4], const void* row) {
  if constexpr (kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// c[16 x 8] += a[16 x 16] · b[16 x 8], fragments as PTX lays them out for mma.m16n8k16.
template <class Operand>
__device__ __forceinline__ void multiply(float (&c)[4], const std::uint32_t (&a)[4],
                                         std::uint32_t b0, std::uint32_t b1);

template <>
__device__ __forceinline__ void multiply<Fp16>(float (&c)[4], const std::uint32_t (&a)[4],
                                               std::uint32_t b0, std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  const auto half = [&](std::uint32_t a0, std::uint32_t a1, std::uint32_t b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(b));
  };
  half(a[0], a[1], b0);
  half(a[2], a[3], b1);
#endif
}
template <>
__device__ __forceinline__ void multiply<Bf16>(float (&c)[4], const std::uint32_t (&a)[4],
                                               std::uint32_t b0, std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();
#endif
}

// 2^x.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two floats, rounded to nearest, in one word.
template <class Operand>
__device__ __forceinline__ std::uint32_t pack(float first, float second);

template <>
__device__ __forceinline__ std::uint32_t pack<Fp16>(float first, float second) {
  const __half2 both = __floats2half2_rn(first, second);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}
template <>
__device__ __forceinline__ std::uint32_t pack<Bf16>(float first, float second) {
#if __CUDA_ARCH__ >= 800
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
#else
  return __trap(), 0u;
#endif
}

__device__ __forceinline__ float half_to_float(std::uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}

// Bytes of the pair (b, a), least significant first, picked by the four nibbles of `selector`.
__device__ __forceinline__ std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b,
                                                    std::uint32_t selector) {
  return __byte_perm(a, b, selector);
}
// a - b on two fp16 numbers.
__device__ __forceinline__ std::uint32_t subtract_halves(std::uint32_t a, std::uint32_t b) {
  const __half2 d =
      __hsub2(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b));
  return *reinterpret_cast<const std::uint32_t*>(&d);
}

}  // namespace kvplan
