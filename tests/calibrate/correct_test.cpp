// SPDX-License-Identifier: Apache-2.0
#include "calibrate/correct.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace kvplan;

namespace {

std::vector<Residual> grid(const std::function<double(const GemmShape&)>& log_ratio) {
  std::vector<Residual> all;
  for (const std::int64_t m : {1, 2, 4})
    for (std::int64_t n = 512; n <= 8192; n += 512)
      for (std::int64_t k = 512; k <= 8192; k += 512) {
        const GemmShape shape{m, n, k, &format_named("bf16")};
        all.push_back({shape, log_ratio(shape)});
      }
  return all;
}

double log_at(const Correction& c, std::int64_t n, std::int64_t k) {
  return std::log(c.of({2, n, k, &format_named("bf16")}));
}

}  // namespace

TEST_CASE("a region of slow kernels is found, and the rest stays as it is") {
  const auto slow = [](const GemmShape& s) { return s.n >= 4096 && s.k <= 1024 ? 0.3 : 0; };
  const auto found = correction_of(grid(slow));
  REQUIRE(found);
  CHECK(log_at(*found, 6144, 768) == doctest::Approx(0.3).epsilon(0.15));
  CHECK(std::abs(log_at(*found, 1024, 4096)) < 0.02);
}

TEST_CASE("a single kernel that was picked badly does not speak for its neighbours") {
  const auto wild = [](const GemmShape& s) { return s.n == 5120 && s.k == 5120 ? 1.0 : 0; };
  const auto found = correction_of(grid(wild));
  REQUIRE(found);
  CHECK(std::abs(log_at(*found, 5120, 5120)) < 0.05);
}

TEST_CASE("fewer residuals than nodes give no correction") {
  const std::vector<Residual> all = grid([](const GemmShape&) { return 0.1; });
  CHECK_FALSE(correction_of({all.front(), all.back()}));
  CHECK_FALSE(correction_of({}));
}
