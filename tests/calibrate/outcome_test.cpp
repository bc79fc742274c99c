// SPDX-License-Identifier: Apache-2.0
#include "calibrate/outcome.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

SampledShape product(std::int64_t k, bool disturbed) {
  SampledShape shape{"weights bf16", GemmShape{4, 4096, k, &format_named("bf16")}, "kernel", {}};
  const double microseconds = static_cast<double>(k) * (disturbed ? 0.3 : 0.1);
  shape.samples.times.assign(3, Seconds(1e-6 * microseconds));
  shape.samples.admitted = disturbed ? 3 : 0;
  return shape;
}

// `quiet` shapes, and one that others disturbed whenever it ran.
Session session_with(std::int64_t quiet) {
  Session session;
  for (std::int64_t i = 0; i < quiet; ++i) session.shapes.push_back(product(1024 * (i + 1), false));
  session.shapes.push_back(product(1024 * (quiet + 1), true));
  return session;
}

}  // namespace

TEST_CASE("a shape that was disturbed when it ran takes no part in the fit") {
  const std::vector<Measured> rows = measured_of(session_with(12));
  CHECK(rows.size() == 12);
  for (const Measured& row : rows)
    CHECK(row.time / Seconds(1e-7) ==
          doctest::Approx(static_cast<double>(std::get<GemmShape>(row.shape).k)));
}

TEST_CASE("disturbed shapes stand in where too few others are left for a fit") {
  CHECK(measured_of(session_with(3)).size() == 4);
}

TEST_CASE("a shape whose median is of undisturbed samples counts") {
  Session session = session_with(12);
  session.shapes.back().samples.admitted = 1;
  CHECK(measured_of(session).size() == 13);
}
