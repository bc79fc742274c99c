// SPDX-License-Identifier: Apache-2.0
// What host code needs of a GPU. The device is one (device.cpp), the emulation another: all that is
// above this line runs on both.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/device.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/kernel.h"
#include "units.h"

namespace kvplan {

struct GpuLimits {
  int processors = 1;      // streaming multiprocessors
  int capability = 80;     // 10 · major + minor
  Bytes shared_per_block;  // with opt-in
  Bytes last_level_cache;
  Bytes free_memory;
};

// A sequence of launches, replayed as one.
struct Recording {
  virtual ~Recording() = default;
  virtual Seconds play() = 0;
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual DeviceSpec spec() const = 0;
  virtual GpuLimits limits() const = 0;
  virtual std::optional<Hertz> clock() = 0;  // of the processors, now
  // Libraries that were looked for and not found, each with what that costs.
  virtual std::vector<std::string> missing() const = 0;

  // Device memory. Throws Error when there is not enough.
  virtual std::byte* allocate(Bytes) = 0;
  virtual void free(std::byte*) noexcept = 0;
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void copy(std::byte* to, const std::byte* from, Bytes) = 0;
  virtual void set(std::byte* to, std::byte value, Bytes) = 0;

  // Blocks that one processor holds at once. Throws Error when a block does not fit at all.
  virtual int resident_blocks(const Kernel&) = 0;
  // Puts a launch into the queue, or into the recording that is being made. `args` is the kernel's
  // struct; it is copied.
  virtual void launch(const Kernel&, Grid, const void* args) = 0;
  // A product by the machine's library, or nullptr where there is none.
  virtual std::unique_ptr<GemmPlan> gemm(const GemmSpec&) = 0;
  // What `enqueue` launches.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& enqueue) = 0;
  // Until the queue is empty. Throws Error when a launch failed.
  virtual void finish() = 0;
};

// Device memory with an owner.
class GpuBuffer {
 public:
  GpuBuffer(Gpu& gpu, Bytes size) : gpu_(gpu), size_(size), at_(gpu.allocate(size)) {}
  ~GpuBuffer() { gpu_.free(at_); }
  GpuBuffer(const GpuBuffer&) = delete;  // owns the memory
  GpuBuffer& operator=(const GpuBuffer&) = delete;

  std::byte* data() const { return at_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(at_);
  }
  Bytes size() const { return size_; }
  template <class T>
  void write(std::span<const T> values) {
    gpu_.upload(at_, std::as_bytes(values));
  }
  template <class T>
  void read(std::span<T> values) const {
    gpu_.download(std::as_writable_bytes(values), at_);
  }
  void poison() { gpu_.set(at_, std::byte{0xff}, size_); }  // NaN in every format

 private:
  Gpu& gpu_;
  Bytes size_;
  std::byte* at_;
};

}  // namespace kvplan
