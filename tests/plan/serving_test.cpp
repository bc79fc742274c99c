// SPDX-License-Identifier: Apache-2.0
#include "plan/serving.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "cost/decode.h"
#include "cost/prefill.h"
#include "model/recipe.h"

using namespace kvplan;

namespace {

// Kernels of 1 ms (products), 2 ms (a step's attention) and 3 ms (a prompt's), whatever their
// shape.
template <class L>
Fit constant(OperatorClass op, double seconds) {
  L law;
  law.floor = Seconds(seconds);
  law.bandwidth = BytesPerSecond(1e20);
  law.rate = FlopsPerSecond(1e20);
  if constexpr (requires { law.ramp_size; }) law.ramp_size = ByteScale(1e7);
  if constexpr (requires { law.cache; }) law.cache = ByteScale(1e7);
  if constexpr (requires { law.unsplit; }) law.split = law.unsplit = BytesPerSecond(1e20);
  if constexpr (requires { law.write; }) law.write = BytesPerSecond(1e20);
  Fit fit;
  fit.op = op;
  fit.format = "bf16";
  fit.law = law;
  fit.bands = {{Seconds(1), 0.9, 1.2}};
  return fit;
}

Setup setup_of(const char* model, const char* device) {
  const Catalog catalog("");
  Setup setup;
  setup.model = apply_recipe(catalog.model(model), "config");
  setup.device = catalog.device(device);
  return setup;
}

Setup with_profile() {
  Setup setup = setup_of("llama-3.1-8b", "h100-sxm");
  Profile profile;
  profile.fits = {constant<GemmLaw>(OperatorClass::gemm, 1e-3),
                  constant<DecodeAttentionLaw>(OperatorClass::decode_attention, 2e-3),
                  constant<PrefillAttentionLaw>(OperatorClass::prefill_attention, 3e-3)};
  setup.profile = std::make_shared<const Profile>(profile);
  return setup;
}

}  // namespace

TEST_CASE("a request takes its share of the steps and of the pass that holds its prompt") {
  const Serving s = serving(with_profile(), {Tokens(2048), Tokens(100), 10});
  REQUIRE(s.expected);
  // Four products and an attention in each of 32 layers, and the head.
  const double step = 32 * (4e-3 + 2e-3) + 1e-3, pass = 32 * (4e-3 + 3e-3) + 1e-3;
  const double each = 100 * step / 10 + pass / 4;  // four prompts of 2,048 in a pass of 8,192
  CHECK(s.expected->value.v == doctest::Approx(each).epsilon(0.001));
  CHECK(s.expected->high.v == doctest::Approx(1.2 * each).epsilon(0.001));
  CHECK(*s.prompt_share == doctest::Approx(pass / 4 / each).epsilon(0.001));
  CHECK(s.until_done(s.expected->value).v == doctest::Approx(10 * each).epsilon(0.001));
  CHECK(s.tokens_per_second(s.expected->value) == doctest::Approx(100 / each).epsilon(0.001));
}

TEST_CASE("a pass holds no more prompts than there are users, and a long prompt fills one") {
  const double pass = 32 * (4e-3 + 3e-3) + 1e-3, step = 32 * (4e-3 + 2e-3) + 1e-3;
  const Serving two = serving(with_profile(), {Tokens(1000), Tokens(10), 2});
  CHECK(two.expected->value.v == doctest::Approx(10 * step / 2 + pass / 2).epsilon(0.001));
  const Serving longer = serving(with_profile(), {Tokens(20000), Tokens(10), 2});
  CHECK(longer.expected->value.v == doctest::Approx(10 * step / 2 + pass).epsilon(0.001));
}

TEST_CASE("no server beats its own steps nor its own prompts, and more users never serve fewer") {
  const Setup setup = setup_of("llama-3.1-8b", "h100-sxm");
  double before = 0;
  for (const std::int64_t users : {1, 2, 8, 32, 128}) {
    const Requests r{Tokens(1000), Tokens(500), users};
    const Serving s = serving(setup, r);
    const DecodeModel decode(setup.model, setup.deployment, *setup.device);
    const auto all = static_cast<double>(users);
    // Between all steps at the first context and all at the last.
    CHECK(*s.ceiling >= *decode.at(Tokens(1000), users).seconds * (500 / all));
    CHECK(*s.ceiling <= *decode.at(Tokens(1500), users).seconds * (500 / all));
    CHECK(1 / s.ceiling->v >= before);
    CHECK(*s.least <=
          s.until_done(*s.ceiling) +
              *prefill(setup.model, setup.deployment, *setup.device, Tokens(1000), 1).seconds);
    CHECK_FALSE(s.expected);
    before = 1 / s.ceiling->v;
  }
  // Long prompts and short answers: arithmetic binds.
  CHECK(serving(setup, {Tokens(8000), Tokens(1), 64}).bound == Bound::compute);
}

TEST_CASE("without a fit for a kernel nothing is expected of a server, and the reason is said") {
  Setup setup = with_profile();
  Profile partial = *setup.profile;
  partial.fits.pop_back();
  setup.profile = std::make_shared<const Profile>(partial);
  const Serving s = serving(setup, {Tokens(100), Tokens(100), 1});
  CHECK_FALSE(s.expected);
  CHECK(s.why_not == "no fit for prefill attention over bf16");
}
