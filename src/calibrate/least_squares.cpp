// SPDX-License-Identifier: Apache-2.0
#include "calibrate/least_squares.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace kvplan {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// Solves a · x = b for a symmetric positive definite a (Cholesky); empty when it is not.
std::optional<Vector> solve(Matrix a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i == j) {
        if (!(sum > 0)) return std::nullopt;
        a[i][i] = std::sqrt(sum);
      } else {
        a[i][j] = sum / a[j][j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

double loss_of(Loss loss, double r) {
  return loss == Loss::cauchy ? std::log1p(r * r) : 2 * (std::sqrt(1 + r * r) - 1);
}
// Half its derivative, over r.
double weight_of(Loss loss, double r) {
  return loss == Loss::cauchy ? 1 / (1 + r * r) : 1 / std::sqrt(1 + r * r);
}

class Problem {
 public:
  Problem(const Residuals& residuals, Vector start, const Box& box, const Search& search)
      : residuals_(residuals),
        start_(std::move(start)),
        box_(box),
        loss_(search.loss),
        scale_(search.scale),
        pull_(search.pull) {}

  double cost(const Vector& x) {
    residuals_(x, values_);
    double sum = 0;
    for (const double value : values_) sum += loss_of(loss_, value / scale_);
    for (std::size_t i = 0; i < x.size(); ++i) sum += square(pull_ / scale_ * (x[i] - start_[i]));
    return std::isfinite(sum) ? sum : 1e300;
  }

  // Normal equations at x: jᵀ w j and -jᵀ w r, derivatives by forward differences.
  void linearise(const Vector& x, Matrix& a, Vector& b) {
    const std::size_t n = x.size();
    residuals_(x, values_);
    columns_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      Vector moved = x;
      moved[i] += x[i] + kStep < box_.high[i] ? kStep : -kStep;
      residuals_(moved, columns_[i]);
      for (std::size_t k = 0; k < values_.size(); ++k)
        columns_[i][k] = (columns_[i][k] - values_[k]) / (moved[i] - x[i]) / scale_;
    }
    a.assign(n, Vector(n, 0));
    b.assign(n, 0);
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const double r = values_[k] / scale_, weight = weight_of(loss_, r);
      for (std::size_t i = 0; i < n; ++i) {
        b[i] -= weight * columns_[i][k] * r;
        for (std::size_t j = 0; j <= i; ++j) a[i][j] += weight * columns_[i][k] * columns_[j][k];
      }
    }
    const double pull = square(pull_ / scale_);
    for (std::size_t i = 0; i < n; ++i) {
      a[i][i] += pull;
      b[i] -= pull * (x[i] - start_[i]);
      for (std::size_t j = 0; j < i; ++j) a[j][i] = a[i][j];
    }
  }

 private:
  static constexpr double kStep = 1e-5;
  static double square(double v) { return v * v; }

  const Residuals& residuals_;
  Vector start_;
  const Box& box_;
  Loss loss_;
  double scale_, pull_;
  Vector values_;
  Matrix columns_;
};

Vector clamped(Vector x, const Box& box) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::clamp(x[i], box.low[i], box.high[i]);
  return x;
}

// A constant at its bound that wants to go beyond it stays out of the step.
void fix_at_bounds(const Vector& x, const Box& box, Matrix& a, Vector& b) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool stuck = (x[i] <= box.low[i] && b[i] < 0) || (x[i] >= box.high[i] && b[i] > 0);
    if (!stuck) continue;
    for (std::size_t j = 0; j < x.size(); ++j) a[i][j] = a[j][i] = 0;
    a[i][i] = 1;
    b[i] = 0;
  }
}

}  // namespace

Minimum minimise(const Residuals& residuals, Vector start, const Box& box, const Search& search) {
  Vector x = clamped(start, box);
  Problem problem(residuals, std::move(start), box, search);
  Minimum best{x, problem.cost(x)};
  double damping = 1e-2;
  for (int step = 0; step < search.most_steps && damping < 1e8; ++step) {
    Matrix a;
    Vector b;
    problem.linearise(best.at, a, b);
    fix_at_bounds(best.at, box, a, b);
    const double before = best.cost;
    for (; damping < 1e8; damping *= 4) {
      Matrix damped = a;
      for (std::size_t i = 0; i < b.size(); ++i) damped[i][i] += damping * (a[i][i] + 1e-12);
      const auto move = solve(std::move(damped), b);
      if (!move) continue;
      Vector next = best.at;
      for (std::size_t i = 0; i < next.size(); ++i) next[i] += std::clamp((*move)[i], -1.0, 1.0);
      next = clamped(std::move(next), box);
      const double cost = problem.cost(next);
      if (cost >= best.cost) continue;
      best = {std::move(next), cost};
      damping = std::max(damping / 9, 1e-9);
      break;
    }
    if (before - best.cost < 1e-7 * before) break;
  }
  return best;
}

}  // namespace kvplan
