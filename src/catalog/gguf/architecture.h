// SPDX-License-Identifier: Apache-2.0
// What a GGUF architecture implies without saying it in its metadata. llama.cpp has the same facts
// in its code (load_hparams of src/llama-model.cpp, later src/models/*.cpp).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace kvplan::gguf {

struct Architecture {
  // How recurrent layers are described, and by which layers.
  enum State {
    none,
    delta_net,
    mamba1,
    mamba2,
    mamba2_blocks,
    mamba2_beside,
    kda,
    short_conv,
    rwkv
  };

  std::string_view name;                // general.architecture
  std::string_view model_type;          // Hugging Face's
  std::string_view reads_as = "llama";  // the family whose layers read_huggingface builds
  State state = none;
  // Of a window, where the file has no pattern: every n-th layer sees everything (1: no layer does
  // otherwise; 0: all layers slide); `full_first`: the first of n, not the last.
  int full_every = 0;
  bool full_first = false;
  std::int64_t window = 0;        // where the file gives none
  std::int64_t fixed_window = 0;  // in place of any that the file gives
  bool chunked = false;           // the window is a chunk (Llama 4)
  std::int64_t owners = 0;        // the first layers that keep caches, where the file does not say
  bool cuts_latents = true;       // false: of latents the up-projection stays whole
  bool causal = true;  // false: every step looks at the whole text (BERT, diffusion models)
};

std::span<const Architecture> architectures();
// nullptr for architectures of no known speciality.
const Architecture* find_architecture(std::string_view name);

// Architectures of files that are no model to plan for: why, and what to do.
struct Refusal {
  std::string_view names;  // separated by blanks
  std::string_view what, advice;
};
const Refusal* find_refusal(std::string_view architecture);

}  // namespace kvplan::gguf
