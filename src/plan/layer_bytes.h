// SPDX-License-Identifier: Apache-2.0
// Does a split fit, asked thousands of times: the bytes of each layer once, then sums.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/llamacpp/part_lines.h"
#include "plan/setup.h"

namespace kvplan {

class LayerBytes {
 public:
  LayerBytes(const Setup&, const Machine&, const llamacpp::PartAccount&, const Load&);

  std::int64_t layers() const { return static_cast<std::int64_t>(dense_.size()) - 1; }
  bool has_experts() const { return has_experts_; }
  // Numbers of layers (-ts) with which each GPU has room: by the memory of the GPUs, and as many as
  // fit from the first GPU on and from the last. `split.shares`, where given, are kept. Empty where
  // there is no room. Tensor overrides do not count here.
  std::vector<std::vector<std::int64_t>> dealt(const llamacpp::Split&) const;

 private:
  // The layers of a split that are on GPUs.
  struct Range {
    std::int64_t first = 0, end = 0;
  };
  using Counts = std::vector<std::int64_t>;
  Counts counts_of(llamacpp::Split) const;
  std::optional<std::vector<Bytes>> rooms(const llamacpp::Split&, Range) const;
  bool has_room(const llamacpp::Split&, Range, const Counts&, std::vector<Bytes> room) const;
  std::optional<Counts> filled(const llamacpp::Split&, Range, std::vector<Bytes> room,
                               bool from_last) const;
  Bytes on_gpu(std::int64_t layer, const llamacpp::Split&) const;
  Bytes host_matrix(const llamacpp::Split&, std::int64_t first, bool output) const;

  const ModelSpec& model_;
  const Machine& machine_;
  const llamacpp::PartAccount& account_;
  Load load_;
  std::vector<Bytes> dense_, experts_, cache_;         // of each main layer, then of the output
  std::vector<Bytes> largest_dense_, largest_expert_;  // tensors that a prompt multiplies with
  Bytes largest_output_, vision_;
  bool has_experts_ = false;
};

}  // namespace kvplan
