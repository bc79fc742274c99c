// SPDX-License-Identifier: Apache-2.0
// Minimises a robust sum over residuals inside a box: Levenberg-Marquardt with weights of the
// soft-L1 loss 2(√(1 + r²) - 1), r = residual / scale (Triggs et al. 2000; Huber 1964 for the
// idea).
#pragma once
#include <functional>
#include <vector>

namespace kvplan {

struct Box {
  std::vector<double> low, high;
};
struct Minimum {
  std::vector<double> at;
  double cost = 0;
};

// `residuals(x, out)` fills one number per observation. `pull` draws each x towards its start: a
// constant that the data do not determine stays where it was.
using Residuals = std::function<void(const std::vector<double>& x, std::vector<double>& out)>;
Minimum minimise(const Residuals&, std::vector<double> start, const Box&, double scale, double pull,
                 int most_steps);

}  // namespace kvplan
