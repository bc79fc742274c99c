// SPDX-License-Identifier: Apache-2.0
// Rates that people measured on one device, against the ceiling for the device as they write it.
#include <doctest/doctest.h>

#include <algorithm>

#include "runs/run_fit.h"

using namespace kvplan;
using namespace kvplan::test;

TEST_CASE("no measured rate beats its ceiling, and decode ceilings are not loose") {
  const Catalog catalog;
  const auto runs = published_runs(catalog);
  std::vector<double> shares;
  for (const PublishedRun& run : runs) {
    CAPTURE(run.device.name);
    CAPTURE(run.model);
    CAPTURE(run.weights);
    CAPTURE(run.source);
    const double share = run.ceiling / run.measured;
    CHECK(share < 1);
    if (run.phase == Phase::decode && run.batch == 1) shares.push_back(share);
  }
  CHECK(runs.size() >= 500);
  std::sort(shares.begin(), shares.end());
  CHECK(shares[shares.size() / 2] >= 0.6);
  CHECK(shares.front() >= 0.08);
}
