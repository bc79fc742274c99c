// SPDX-License-Identifier: Apache-2.0
// Each row names the pull request of ggml-org/llama.cpp; its build number is that of the week in
// which it was merged.
#include "engine/llamacpp/rules.h"

#include <array>

namespace kvplan::llamacpp {
namespace {

constexpr std::array kRows = {
    Rule<Rules>{"latents instead of heads",
                {5130},
                "ggml-org/llama.cpp#12801",
                [](Rules& r) { r.latent = LatentCache::with_values; }},
    Rule<Rules>{"a cache of its own for sliding layers",
                {5430},
                "ggml-org/llama.cpp#13194",
                [](Rules& r) { r.windows = true; }},
    Rule<Rules>{"gate and up make a third row",
                {5780},
                "ggml-org/llama.cpp#14158",
                [](Rules& r) { r.product_apart = true; }},
    Rule<Rules>{"a stream of cells for each sequence",
                {5910},
                "ggml-org/llama.cpp#14363",
                [](Rules& r) { r.streams = true; }},
    Rule<Rules>{"a prompt takes only the experts it uses",
                {6310},
                "ggml-org/llama.cpp#15346",
                [](Rules& r) { r.copies_used_experts = true; }},
    Rule<Rules>{"256 cells whatever the attention",
                {6970},
                "ggml-org/llama.cpp#17046",
                [](Rules& r) { r.padding = 256; }},
    Rule<Rules>{"the output before the layers",
                {7470},
                "ggml-org/llama.cpp#18148",
                [](Rules& r) { r.output_first = true; }},
    Rule<Rules>{"no values beside latents",
                {7825},
                "ggml-org/llama.cpp#19067",
                [](Rules& r) { r.latent = LatentCache::alone; }},
};

}  // namespace

Rules rules_of(Version build) { return folded<Rules>(kRows, build); }

}  // namespace kvplan::llamacpp
