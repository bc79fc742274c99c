// SPDX-License-Identifier: Apache-2.0
// Device primitives on the CPU. Asynchronous copies happen at the latest moment that the GPU may
// choose, when they are waited for; until then the place holds NaN.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/cuda/emulation/block.h"
#include "kernels/cuda/emulation/halves.h"
#include "kernels/cuda/port.cuh"

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

namespace kvplan {

using std::max, std::min;

template <auto kFunction, class Args>
Kernel kernel_of(const char* name, int threads, std::int64_t shared_bytes) {
  void (*const call)(const void*) = [](const void* args) {
    kFunction(*static_cast<const Args*>(args));
  };
  return {name, reinterpret_cast<void (*)()>(call), threads, shared_bytes};
}

template <class Operand, int kSharedBytes>
constexpr bool runs_here() {
  return true;
}

template <class Operand>
constexpr bool copies_here() {
  return true;
}

inline int thread_index() { return emulation::block->self->index; }
inline Grid block_index() { return emulation::block->index; }
inline Grid grid_size() { return emulation::block->grid; }

inline unsigned char* shared_memory() {
  return reinterpret_cast<unsigned char*>(emulation::block->shared());
}
template <class T>
T shared_load(const T* from) {
  emulation::block->shadow().read(from, sizeof(T), emulation::block->now());
  return *from;
}
template <class T>
void shared_store(T* to, T value) {
  emulation::block->shadow().write(to, sizeof(T), emulation::block->now());
  *to = value;
}

inline void block_barrier(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  emulation::block->block_barrier({file, line});
}
inline void warp_barrier(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  emulation::block->warp_barrier({file, line});
}
inline float shuffle_xor(float value, int mask, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  emulation::Block& b = *emulation::block;
  const unsigned round = b.exchange({std::bit_cast<std::uint32_t>(value), 0, 0, 0}, "shuffle",
                                    {file, line}, [](emulation::Warp&, unsigned) {});
  const int from = (b.self->index % 32) ^ mask;
  return std::bit_cast<float>(static_cast<std::uint32_t>(b.warp().table[round][from][0]));
}

inline Chunk load_stream(const void* from) {
  emulation::Settings& with = emulation::block->settings;
  with.check(from, sizeof(Chunk));
  with.counters.bytes_loaded += sizeof(Chunk);
  return *static_cast<const Chunk*>(from);
}
inline void store_stream(void* to, const Chunk& chunk) {
  emulation::Settings& with = emulation::block->settings;
  with.check(to, sizeof(Chunk));
  with.counters.bytes_stored += sizeof(Chunk);
  *static_cast<Chunk*>(to) = chunk;
}

inline void copy_async(void* to, const void* from, bool valid) {
  emulation::Block& b = *emulation::block;
  if (valid) {
    b.settings.check(from, sizeof(Chunk));
    b.settings.counters.bytes_loaded += sizeof(Chunk);
  }
  b.shadow().issue(to, sizeof(Chunk), b.now());
  std::memset(to, 0xff, sizeof(Chunk));
  b.self->copies.push_back({to, from, valid});
}
inline void copy_commit() {
  emulation::Thread& me = *emulation::block->self;
  me.groups.push_back(me.copies.size());
}
template <int kGroups>
void copy_wait() {
  emulation::Block& b = *emulation::block;
  emulation::Thread& me = *b.self;
  const auto allowed = static_cast<std::size_t>(kGroups + b.settings.faults.wait_short);
  if (me.groups.size() <= allowed) return;
  const auto done = static_cast<std::ptrdiff_t>(me.groups.size() - allowed);
  const std::size_t count = me.groups[static_cast<std::size_t>(done - 1)];
  for (std::size_t i = 0; i < count; ++i) {
    const emulation::Copy& copy = me.copies[i];
    if (copy.valid)
      std::memcpy(copy.to, copy.from, sizeof(Chunk));
    else
      std::memset(copy.to, 0, sizeof(Chunk));
    b.shadow().complete(copy.to, sizeof(Chunk), b.now());
  }
  me.copies.erase(me.copies.begin(), me.copies.begin() + static_cast<std::ptrdiff_t>(count));
  me.groups.erase(me.groups.begin(), me.groups.begin() + done);
  for (std::size_t& end : me.groups) end -= count;
}

template <bool kTransposed>
void load_matrices(std::uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  emulation::Block& b = *emulation::block;
  const unsigned round =
      b.exchange({reinterpret_cast<std::uint64_t>(row), 0, 0, 0}, "load_matrices", {file, line},
                 [&b](emulation::Warp& w, unsigned i) { emulation::note_rows(b, w.table[i]); });
  const auto& rows = b.warp().table[round];
  const int lane = b.self->index % 32, quad = lane / 4, place = lane % 4;
  const auto number = [&](int matrix, int of_row, int column) {
    std::uint16_t bits;
    std::memcpy(&bits,
                reinterpret_cast<const std::uint16_t*>(rows[8 * matrix + of_row][0]) + column,
                sizeof(bits));
    return static_cast<std::uint32_t>(bits);
  };
  for (int m = 0; m < 4; ++m)
    r[m] = kTransposed ? number(m, 2 * place, quad) | number(m, 2 * place + 1, quad) << 16
                       : number(m, quad, 2 * place) | number(m, quad, 2 * place + 1) << 16;
}

template <class Operand>
void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  emulation::Block& b = *emulation::block;
  const auto two = [](std::uint32_t low, std::uint32_t high) {
    return low | static_cast<std::uint64_t>(high) << 32;
  };
  const unsigned round = b.exchange(
      {two(a[0], a[1]), two(a[2], a[3]), two(b0, b1), 0}, "multiply", {file, line},
      [](emulation::Warp& w, unsigned i) {
        emulation::multiply_tables(w.table[i], emulation::HalfToFloat<Operand>{}, w.product[i]);
      });
  const int lane = b.self->index % 32, quad = lane / 4, place = lane % 4;
  for (int i = 0; i < 4; ++i) c[i] += b.warp().product[round][quad + i / 2 * 8][2 * place + i % 2];
}

inline float power_of_two(float x) { return std::exp2(x); }

template <class Operand>
std::uint32_t pack(float first, float second) {
  return emulation::float_to_half(first, Operand{}) |
         static_cast<std::uint32_t>(emulation::float_to_half(second, Operand{})) << 16;
}

inline float half_to_float(std::uint16_t bits) { return emulation::HalfToFloat<Fp16>{}(bits); }

inline std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = a | static_cast<std::uint64_t>(b) << 32;
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= static_cast<std::uint32_t>(both >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
  return out;
}
inline std::uint32_t subtract_halves(std::uint32_t a, std::uint32_t b) {
  constexpr emulation::HalfToFloat<Fp16> to_float;
  return pack<Fp16>(
      to_float(static_cast<std::uint16_t>(a)) - to_float(static_cast<std::uint16_t>(b)),
      to_float(static_cast<std::uint16_t>(a >> 16)) -
          to_float(static_cast<std::uint16_t>(b >> 16)));
}

}  // namespace kvplan
