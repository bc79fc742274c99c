// SPDX-License-Identifier: Apache-2.0
#include "calibrate/correct.h"

#include <algorithm>
#include <cmath>

namespace kvplan {
namespace {

constexpr double kScale = 0.05;  // residuals beyond 5 % count less and less (Cauchy's loss)
constexpr double kSpring = 0.1;  // between neighbours, beside one residual
constexpr double kAnchor = 0.1;  // of each node, towards no correction
constexpr double kMost = 2;      // of a logarithm
constexpr int kSweeps = 40, kReweigh = 5;

Lattice::Axis axis_over(const std::vector<Residual>& residuals, std::int64_t GemmShape::*size) {
  const auto [least, most] = std::minmax_element(
      residuals.begin(), residuals.end(),
      [&](const Residual& a, const Residual& b) { return a.shape.*size < b.shape.*size; });
  const auto log2 = [&](const Residual& r) {
    return std::log2(static_cast<double>(r.shape.*size));
  };
  const int first = static_cast<int>(std::floor(log2(*least))),
            last = static_cast<int>(std::ceil(log2(*most)));
  return {first, last - first + 1};
}

// Each node in turn goes where its residuals and its neighbours draw it (Gauss-Seidel).
class Sheet {
 public:
  Sheet(const Lattice& lattice, const std::vector<Residual>& residuals)
      : lattice_(lattice), pulls_(lattice.nodes()), height_(lattice.nodes(), 0) {
    for (const Residual& r : residuals) {
      for (const Lattice::Corner& corner : lattice.around(r.shape))
        if (corner.share > 0) pulls_[corner.node].push_back({left_.size(), corner.share});
      left_.push_back(r.log_ratio);
    }
    weight_.resize(left_.size());
  }

  std::vector<int> settled() {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      if (sweep % kReweigh == 0) reweigh();
      for (std::size_t node = 0; node < height_.size(); ++node) relax(node);
    }
    std::vector<int> per_mille;
    for (const double h : height_)
      per_mille.push_back(static_cast<int>(std::lround(1000 * std::clamp(h, -kMost, kMost))));
    return per_mille;
  }

 private:
  struct Pull {
    std::size_t residual;
    double share;
  };

  void reweigh() {
    for (std::size_t i = 0; i < left_.size(); ++i)
      weight_[i] = 1 / (1 + (left_[i] / kScale) * (left_[i] / kScale));
  }

  void relax(std::size_t node) {
    double force = -kAnchor * height_[node], stiffness = kAnchor;
    for (const Pull& pull : pulls_[node]) {
      force += weight_[pull.residual] * pull.share * left_[pull.residual];
      stiffness += weight_[pull.residual] * pull.share * pull.share;
    }
    std::size_t stride = 1;
    for (std::size_t a = lattice_.axes.size(); a-- > 0;) {
      const auto count = static_cast<std::size_t>(lattice_.axes[a].count);
      const std::size_t place = node / stride % count;
      if (place > 0) spring(node, node - stride, force, stiffness);
      if (place + 1 < count) spring(node, node + stride, force, stiffness);
      stride *= count;
    }
    const double move = force / stiffness;
    height_[node] += move;
    for (const Pull& pull : pulls_[node]) left_[pull.residual] -= pull.share * move;
  }

  void spring(std::size_t node, std::size_t neighbour, double& force, double& stiffness) const {
    force += kSpring * (height_[neighbour] - height_[node]);
    stiffness += kSpring;
  }

  const Lattice& lattice_;
  std::vector<std::vector<Pull>> pulls_;  // by node
  std::vector<double> height_;            // by node
  std::vector<double> left_, weight_;     // by residual
};

}  // namespace

std::optional<Correction> correction_of(const std::vector<Residual>& residuals) {
  if (residuals.empty()) return std::nullopt;
  Correction correction;
  correction.lattice.axes = {axis_over(residuals, &GemmShape::m),
                             axis_over(residuals, &GemmShape::n),
                             axis_over(residuals, &GemmShape::k)};
  if (residuals.size() < correction.lattice.nodes()) return std::nullopt;
  correction.per_mille = Sheet(correction.lattice, residuals).settled();
  return correction;
}

}  // namespace kvplan
