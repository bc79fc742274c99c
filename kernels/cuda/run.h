// SPDX-License-Identifier: Apache-2.0
// What all problems on a GPU share: slots in turn, a recording of about ten launches, events around
// it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cuda/arena.h"
#include "kernels/cuda/gpu.h"

namespace kvplan {

struct GpuContext {
  Gpu& gpu;
  GpuArena& arena;
  std::int64_t block_tokens;  // of a paged cache; 0: contiguous
};

class GpuRun : public Run {
 public:
  // `slot` is what one launch reads.
  GpuRun(const GpuContext&, Bytes slot);
  Seconds sample() override;
  // Queues what computes the problem on the bytes at `slot`.
  virtual void enqueue(std::byte* slot) = 0;
  Bytes slot_bytes() const { return slots_.stride(); }

 protected:
  // Runs on the next slot and waits; returns the slot.
  std::byte* run_once();
  void forget_recording() { recording_.reset(); }  // another kernel is next
  std::string rotation() const;                    // for descriptions
  // Blocks in turn on all processors, as many as they hold.
  int resident_blocks(const Kernel&) const;

  GpuContext context_;

 private:
  GpuSlots slots_;
  int next_ = 0;
  std::unique_ptr<Recording> recording_, flush_;
};

// Whether the device has the shared memory that a kernel needs and, where it asks for that, the
// bf16 and the asynchronous copies of sm_80.
bool runs(const GpuContext&, const Kernel&, bool needs_sm80);

std::unique_ptr<GpuRun> stream_run_cuda(const GpuContext&, const StreamShape&);
std::unique_ptr<GpuRun> launch_run_cuda(const GpuContext&);
std::unique_ptr<GpuRun> decode_run_cuda(const GpuContext&, const DecodeAttentionShape&);
std::unique_ptr<GpuRun> latent_run_cuda(const GpuContext&, const LatentDecodeShape&);
std::unique_ptr<GpuRun> prefill_run_cuda(const GpuContext&, const PrefillAttentionShape&);
std::unique_ptr<GpuRun> gemm_run_cuda(const GpuContext&, const GemmShape&);
std::unique_ptr<GpuRun> weight_stream_run_cuda(const GpuContext&, const GemmShape&);

std::unique_ptr<Run> step_run_cuda(const GpuContext&, std::vector<std::unique_ptr<GpuRun>> parts);

}  // namespace kvplan
