// SPDX-License-Identifier: Apache-2.0
// One problem, placed in the arena and ready to run on the team. nullptr: no kernel for it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/arena.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/team.h"

namespace kvplan {

struct CpuContext {
  Team& team;
  Arena& arena;
  Isa isa;
};

// A run in two parts, so that several can follow each other in one pass of the team.
class CpuRun : public Run {
 public:
  explicit CpuRun(const CpuContext& context) : context_(context) {}

  virtual void place() = 0;              // takes the next bytes of the arena
  virtual void work_on(int thread) = 0;  // the share of one member
  Seconds sample() override;
  std::string description() const override;  // instruction set and threads

 protected:
  CpuContext context_;
};

std::unique_ptr<CpuRun> stream_run(const CpuContext&, const StreamShape&);
std::unique_ptr<CpuRun> launch_run(const CpuContext&);
std::unique_ptr<CpuRun> gemm_run(const CpuContext&, const GemmShape&);
std::unique_ptr<CpuRun> decode_run(const CpuContext&, const DecodeAttentionShape&);
std::unique_ptr<CpuRun> latent_run(const CpuContext&, const LatentDecodeShape&);
std::unique_ptr<CpuRun> prefill_run(const CpuContext&, const PrefillAttentionShape&);
// The runs one after the other, all members meeting in between.
std::unique_ptr<CpuRun> step_run(const CpuContext&, std::vector<std::unique_ptr<CpuRun>>);

}  // namespace kvplan
