// SPDX-License-Identifier: Apache-2.0
#include "calibrate/table_remarks.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace kvplan;

namespace {

// Reads 1 TB/s.
DeviceSpec device() {
  DeviceSpec d;
  d.name = "some-gpu";
  d.bandwidth.value = BytesPerSecond(1e12);
  return d;
}

// Square products of one row of x: 2 · 4096² bytes of weights take 33.6 µs at 1 TB/s.
MeasuredTable products(int count, double microseconds, const char* format = "bf16") {
  MeasuredTable table;
  for (int i = 0; i < count; ++i)
    table.rows.push_back({GemmShape{1, 4096 + i, 4096, &format_named(format)},
                          Seconds(microseconds * 1e-6),
                          {},
                          {}});
  return table;
}

std::string message(const std::vector<Warning>& warnings, const std::string& code) {
  for (const Warning& w : warnings)
    if (w.code == code) return w.message;
  return "";
}

Fit fit_of(OperatorClass op, std::string format) {
  Fit fit;
  fit.op = op;
  fit.format = std::move(format);
  return fit;
}

}  // namespace

TEST_CASE("rows to judge that no fit is there for are counted and named") {
  MeasuredTable judging = products(3, 40, "fp8");
  judging.rows.push_back(
      {CollectiveShape{CollectiveShape::all_reduce, 8, Bytes(512)}, Seconds(1e-5), "all_reduce X"});
  judging.rows.push_back({GemmShape{1, 64, 64, &format_named("bf16")}, Seconds(1e-5), {}, {}});
  const auto warnings =
      remarks_on(products(9, 40), judging, {fit_of(OperatorClass::gemm, "bf16")}, device());
  const std::string text = message(warnings, "rows-not-judged");
  CHECK(text.starts_with("4 rows of --holdout"));
  CHECK(text.ends_with(": 3 of gemm fp8, 1 of collective all_reduce X"));
  CHECK(warnings.size() == 1);
}

TEST_CASE("rows of kinds too few for a fit, and rows left out, are named with their numbers") {
  MeasuredTable fitted = products(9, 40);
  for (const Measured& row : products(7, 40, "fp8").rows) fitted.rows.push_back(row);
  for (int i = 1; i <= 8; ++i) fitted.left_out_for["gpu " + std::to_string(i)] = 10 - i;
  const auto warnings =
      remarks_on(fitted, {}, {fit_of(OperatorClass::weight_stream, "bf16")}, device());
  CHECK(message(warnings, "rows-not-fitted").ends_with("fewer than 8 rows: 7 of gemm fp8"));
  // 9 + 8 + … + 2 = 44; the last two kinds are 3 + 2.
  const std::string left = message(warnings, "rows-left-out");
  CHECK(left.starts_with("44 rows"));
  CHECK(left.find(": 9 of gpu 1, ") != left.npos);
  CHECK(left.ends_with("4 of gpu 6 and 5 of 2 further kinds"));
}

TEST_CASE("a table without a fit says why") {
  CHECK(std::string(no_fit_of({}).what()) == "the table has no rows");
  CHECK(std::string(no_fit_of(products(1, 40)).what()) ==
        "a fit needs 8 rows of a kind; there are 1 of gemm bf16");
  MeasuredTable others;
  others.left_out = others.left_out_for["gpu a100"] = 5;
  CHECK(std::string(no_fit_of(others).what()) == "no row can be fitted: 5 of gpu a100");
}

TEST_CASE("milliseconds in place of microseconds are noticed, and nanoseconds too") {
  CHECK_NOTHROW(require_plausible(products(9, 40), device()));
  // From a cache twenty times as fast as memory: possible.
  CHECK_NOTHROW(require_plausible(products(9, 2), device()));
  CHECK_THROWS_AS(require_plausible(products(9, 0.040), device()), Error);
  const std::vector<Fit> fits{fit_of(OperatorClass::gemm, "bf16")};
  CHECK(message(remarks_on(products(9, 40e3), {}, fits, device()), "times-too-long") != "");
  CHECK(message(remarks_on(products(9, 400), {}, fits, device()), "times-too-long") == "");
}

TEST_CASE("rows to judge that the fit saw are counted") {
  const auto warnings =
      remarks_on(products(9, 40), products(3, 41), {fit_of(OperatorClass::gemm, "bf16")}, device());
  CHECK(message(warnings, "rows-seen").starts_with("3 rows of --holdout"));
}
