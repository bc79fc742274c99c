// SPDX-License-Identifier: Apache-2.0
// Does a split fit, asked thousands of times: the bytes of each layer once, then sums.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/llamacpp/part_lines.h"
#include "plan/layer_times.h"
#include "plan/setup.h"

namespace kvplan {

class LayerBytes {
 public:
  LayerBytes(const Setup&, const Machine&, const llamacpp::PartAccount&, const Load&);

  std::int64_t layers() const { return static_cast<std::int64_t>(dense_.size()) - 1; }
  bool has_experts() const { return has_experts_; }
  // Whether some division of its layers over the GPUs has room; only that of `split.shares`, where
  // given. Tensor overrides do not count here.
  bool has_room(const llamacpp::Split&) const;
  // The split with its division over the GPUs (-ts), by the engine itself. Empty: no room.
  std::optional<llamacpp::Split> dealt(const llamacpp::Split&) const;
  struct Division {
    llamacpp::Split split;
    Seconds seconds;  // of a step, but for links and caches of the parts
  };
  // The division of least time, of several GPUs, with as many layers on them as serve best, or as
  // many as given; the split says where experts and caches go. Empty: no room.
  std::optional<Division> fastest(llamacpp::Split, std::optional<std::int64_t> gpu_layers) const;

 private:
  // The layers of a split that are on GPUs.
  struct Range {
    std::int64_t first = 0, end = 0;
  };
  using Counts = std::vector<std::int64_t>;
  Counts counts_of(llamacpp::Split) const;
  std::optional<std::vector<Bytes>> rooms(const llamacpp::Split&, Range) const;
  Range range_of(const llamacpp::Split&) const;
  bool fits(const llamacpp::Split&, Range, const Counts&, std::vector<Bytes> room) const;
  bool can_fill(const llamacpp::Split&, Range, std::vector<Bytes> room) const;
  llamacpp::Split evened(llamacpp::Split) const;
  std::vector<double> times_of_host(const llamacpp::Split&) const;
  struct Runs;
  std::optional<Runs> best_runs(const llamacpp::Split&, std::vector<double> least) const;
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
  std::optional<LayerTimes> times_;  // of several GPUs
};

}  // namespace kvplan
