// SPDX-License-Identifier: Apache-2.0
// A step or a prompt by operator: bytes, operations and how they stand to the device's ridge, for
// one rank. The roofline of Williams, Waterman and Patterson (2009).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cost/device.h"
#include "cost/rank.h"

namespace kvplan {

struct Portion {
  std::string_view what;  // a role ("attention", "routed_expert") or a cache ("window cache")
  const Format* format = nullptr;  // of what is read; nullptr where it does not matter
  Bytes bytes;                     // read and written, each once
  Flops flops;
  Seconds memory;                     // at the peak bandwidth, nothing kept in a cache
  std::optional<Seconds> arithmetic;  // at the fastest peak for the format
  std::optional<double> ridge;        // flops per byte above which arithmetic binds

  // Flops per byte; empty where nothing is read.
  std::optional<double> intensity() const {
    if (bytes.n == 0) return std::nullopt;
    return flops.v / bytes.real();
  }
};

// How many tokens pass the products of one rank.
struct Passes {
  std::int64_t tokens = 1, pooled = 1;  // of one replica, of one set of experts
  std::int64_t heads = 1;               // that need logits
};
// One portion per role and format, in the order of the rank's products; experts as in the ceiling,
// where all tokens agree on the same k.
std::vector<Portion> weight_portions(const RankTerms&, const DeviceSpec&, const Passes&);
Portion cache_portion(const CacheTerm&, const CacheUse&, const DeviceSpec&);
// Of `sequences` texts that an encoder reads; on the fastest unit of 16 bits.
Portion mutual_portion(const RankTerms&, Tokens text, std::int64_t sequences, const DeviceSpec&);

// The decode step that DecodeModel::at prices, on one rank of the slowest pipeline stage.
std::vector<Portion> decode_breakdown(const ModelSpec&, const Deployment&, const DeviceSpec&,
                                      Tokens context, std::int64_t batch);
// The prompt that prefill() prices, likewise.
std::vector<Portion> prefill_breakdown(const ModelSpec&, const Deployment&, const DeviceSpec&,
                                       Tokens prompt, std::int64_t batch);

}  // namespace kvplan
