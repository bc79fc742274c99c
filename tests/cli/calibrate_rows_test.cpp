// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_rows.h"

#include <doctest/doctest.h>

using namespace kvplan;

namespace {

// Eight rows of x meet 1,024 · 1,024 numbers in 1 ms: 16.8 GFLOP/s.
SampledShape product(double of_stream) {
  SampledShape shape{"weights bf16", GemmShape{8, 1024, 1024, &format_named("bf16")}, "", {}, {}};
  shape.samples.times = {Seconds(1e-3), Seconds(1e-3), Seconds(1e-3)};
  shape.samples.of_stream = {of_stream, of_stream, of_stream};
  shape.arithmetic = Arithmetic::bf16_pairs;
  return shape;
}

Session session_of(const SampledShape& shape, double peak) {
  Session session;
  session.shapes = {shape};
  session.peaks = {{Arithmetic::floats, FlopsPerSecond(peak / 2)},
                   {Arithmetic::bf16_pairs, FlopsPerSecond(peak)}};
  return session;
}

}  // namespace

TEST_CASE("a kernel that reads slowly but multiplies as fast as cores can is bound by arithmetic") {
  const Session session = session_of(product(0.45), 20e9);
  const std::vector<RateRow> rows = rate_rows(session);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].of_peak.value() == doctest::Approx(2 * 8 * 1024 * 1024 / 1e-3 / 20e9));
  CHECK(rows[0].bound == Bound::compute);
  CHECK(peaks_of(session) == "fp32 10.0 GFLOP/s, bf16 20.0 GFLOP/s");
}

TEST_CASE("a kernel that streams is bound by bandwidth, however little arithmetic it needs") {
  const std::vector<RateRow> rows = rate_rows(session_of(product(0.95), 100e9));
  CHECK(rows[0].of_peak.value() < 0.2);
  CHECK(rows[0].bound == Bound::bandwidth);
}

TEST_CASE("where arithmetic was not measured, nothing is said of a peak or of what binds") {
  Session session = session_of(product(0.5), 100e9);
  session.peaks.clear();
  const RateRow row = rate_rows(session).front();
  CHECK(!row.of_peak);
  CHECK(!row.bound);
  CHECK(row.of_stream == 0.5);
}
