// SPDX-License-Identifier: Apache-2.0
// One problem, placed in the arena and ready to run on the team. nullptr: no kernel for it.
#pragma once
#include <memory>

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

std::unique_ptr<Run> stream_run(const CpuContext&, const StreamShape&);
std::unique_ptr<Run> launch_run(const CpuContext&);
std::unique_ptr<Run> gemm_run(const CpuContext&, const GemmShape&);
std::unique_ptr<Run> decode_run(const CpuContext&, const DecodeAttentionShape&);
std::unique_ptr<Run> latent_run(const CpuContext&, const LatentDecodeShape&);
std::unique_ptr<Run> prefill_run(const CpuContext&, const PrefillAttentionShape&);

}  // namespace kvplan
