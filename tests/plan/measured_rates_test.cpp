// SPDX-License-Identifier: Apache-2.0
// Rates that people measured with one sequence on one device, against the ceiling for the device as
// they write it.
#include <doctest/doctest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "cost/decode.h"
#include "cost/prefill.h"
#include "engine/logged_shape.h"
#include "model/recipe.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

double real_at(const Node& row, const char* key) {
  const Node* found = row.find(key);
  return found ? found->number().value_or(0) : 0;
}

}  // namespace

TEST_CASE("no measured rate beats its ceiling, and decode ceilings are not loose") {
  const Catalog catalog;
  Deployment deployment;
  deployment.cache = cache_formats("fp16");
  std::vector<double> shares;
  std::size_t rates = 0;
  for (const Node& row : truth_rows("measured_rates.yaml")) {
    const std::string name = text_at(row, "device") + " " + text_at(row, "model") + " " +
                             text_at(row, "weights") + ", " + text_at(row, "source");
    CAPTURE(name);
    const ModelSpec model =
        apply_recipe(catalog.model(text_at(row, "model")), text_at(row, "weights"));
    const DeviceSpec device = catalog.device(text_at(row, "device"));
    if (const double measured = real_at(row, "decode"); measured > 0) {
      const Step step =
          DecodeModel(model, deployment, device).at(Tokens(integer_at(row, "context", 64)), 1);
      shares.push_back(measured * step.seconds->v);
      CHECK(shares.back() < 1);
      ++rates;
    }
    if (const double measured = real_at(row, "prefill"); measured > 0) {
      const Tokens prompt(integer_at(row, "prompt", 512));
      const Prefill whole = prefill(model, deployment, device, prompt, 1);
      CHECK(measured * whole.seconds->v < prompt.real());
      ++rates;
    }
  }
  CHECK(rates >= 80);
  std::sort(shares.begin(), shares.end());
  CHECK(shares[shares.size() / 2] >= 0.6);
  CHECK(shares.front() >= 0.08);
}
