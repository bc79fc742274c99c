// SPDX-License-Identifier: Apache-2.0
#include "cost/correction.h"

#include <algorithm>
#include <cmath>

namespace kvplan {
namespace {

// The node below on one axis, and how far the value lies towards the next.
struct Place {
  std::size_t below = 0;
  double past = 0;
};

Place place_of(std::int64_t value, const Lattice::Axis& axis) {
  const double steps = std::clamp(std::log2(static_cast<double>(value)) - axis.first, 0.0,
                                  static_cast<double>(axis.count - 1));
  const auto below = std::min(static_cast<std::size_t>(steps),
                              static_cast<std::size_t>(std::max(axis.count - 2, 0)));
  return {below, steps - static_cast<double>(below)};
}

}  // namespace

std::size_t Lattice::nodes() const {
  std::size_t all = 1;
  for (const Axis& axis : axes) all *= static_cast<std::size_t>(axis.count);
  return all;
}

std::array<Lattice::Corner, 8> Lattice::around(const GemmShape& s) const {
  const std::array<Place, 3> places{place_of(s.m, axes[0]), place_of(s.n, axes[1]),
                                    place_of(s.k, axes[2])};
  std::array<Corner, 8> corners;
  for (std::size_t c = 0; c < corners.size(); ++c) {
    corners[c].share = 1;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const auto count = static_cast<std::size_t>(axes[a].count);
      const bool next = (c >> a) & 1;
      corners[c].node =
          corners[c].node * count + std::min(places[a].below + (next ? 1 : 0), count - 1);
      corners[c].share *= next ? places[a].past : 1 - places[a].past;
    }
  }
  return corners;
}

double Correction::of(const GemmShape& shape) const {
  double log = 0;
  for (const Lattice::Corner& corner : lattice.around(shape))
    log += corner.share * per_mille[corner.node];
  return std::exp(log / 1000);
}

}  // namespace kvplan
