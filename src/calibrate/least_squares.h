// SPDX-License-Identifier: Apache-2.0
// Minimises a robust sum over residuals inside a box: Levenberg-Marquardt, weights of the loss
// (Triggs et al. 2000; Huber 1964 for the idea).
#pragma once
#include <functional>
#include <vector>

namespace kvplan {

struct Box {
  std::vector<double> low, high;
};

// Of r = residual / scale. Soft-L1, 2(√(1 + r²) - 1), pulls towards every observation and leads
// anywhere; Cauchy's, log(1 + r²), forgets those that are far off, but only knows the way from
// near.
enum class Loss { soft_l1, cauchy };

struct Minimum {
  std::vector<double> at;
  double cost = 0;
};

// `residuals(x, out)` fills one number per observation. `pull` draws each x towards its start: a
// constant that the data do not determine stays where it was.
using Residuals = std::function<void(const std::vector<double>& x, std::vector<double>& out)>;
struct Search {
  Loss loss = Loss::soft_l1;
  double scale = 1, pull = 0;
  int most_steps = 100;
};
Minimum minimise(const Residuals&, std::vector<double> start, const Box&, const Search&);

}  // namespace kvplan
