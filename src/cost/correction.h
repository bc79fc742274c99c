// SPDX-License-Identifier: Apache-2.0
// What a law of products misses: libraries pick their kernels by shape, and whole regions of shapes
// get quicker or slower ones than their neighbours.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "cost/shape.h"

namespace kvplan {

// Powers of two of m, n and k.
struct Lattice {
  struct Axis {
    int first = 0, count = 1;  // 2^first, 2^(first + 1), …
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::array<Axis, 3> axes;  // m, n, k

  std::size_t nodes() const;  // k counts fastest
  // The nodes around a shape and what share each has in it. Shapes beyond the lattice are those at
  // its edge.
  struct Corner {
    std::size_t node = 0;
    double share = 0;
  };
  std::array<Corner, 8> around(const GemmShape&) const;
  friend bool operator==(const Lattice&, const Lattice&) = default;
};

// Measured / predicted. Its logarithm is known at the nodes and linear between them, in the
// logarithms of m, n and k.
struct Correction {
  Lattice lattice;
  std::vector<int> per_mille;  // 1000 × the logarithm, by node

  double of(const GemmShape&) const;
  friend bool operator==(const Correction&, const Correction&) = default;
};

}  // namespace kvplan
