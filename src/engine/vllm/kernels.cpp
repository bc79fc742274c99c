// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/kernels.h"

#include <string>

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kDeltaChunk = 64;   // FlashInfer's chunks of gated delta nets
constexpr std::int64_t kDeltaWidth = 128;  // of keys that its Blackwell kernels take

bool has(const std::string& text, const char* word) { return text.find(word) != text.npos; }

}  // namespace

Gpu gpu_of(const std::optional<DeviceSpec>& device) {
  if (!device || has(device->architecture, "Hopper")) return Gpu::hopper;
  if (!has(device->architecture, "Blackwell")) return Gpu::older;
  const bool small = has(device->architecture, "GB20") || has(device->architecture, "GB10") ||
                     has(device->name, "rtx");
  return small ? Gpu::small_blackwell : Gpu::blackwell;
}

std::int64_t latent_block(Gpu gpu, bool sparse, bool eight_bits) {
  if (sparse) return 64;
  if (gpu == Gpu::blackwell) return 32;
  return gpu == Gpu::hopper && eight_bits ? 64 : 16;
}

bool exports_states(const Recurrent& mixer, Gpu gpu) {
  if (mixer.kind == Recurrent::mamba2) return true;
  if (mixer.kind != Recurrent::gated_delta_net || gpu == Gpu::older) return false;
  return gpu == Gpu::hopper || mixer.k_width == kDeltaWidth;
}

std::int64_t export_grain(const Recurrent& mixer) {
  return mixer.kind == Recurrent::gated_delta_net ? kDeltaChunk : 1;
}

}  // namespace kvplan::vllm
