// SPDX-License-Identifier: Apache-2.0
#include "cost/expected.h"

#include <doctest/doctest.h>

#include "model/shapes.h"

using namespace kvplan;

namespace {

template <class L>
Fit fit_of(OperatorClass op, double seconds) {
  L law;
  law.floor = Seconds(seconds);
  law.bandwidth = BytesPerSecond(1e15);
  if constexpr (requires { law.rate; }) law.rate = FlopsPerSecond(1e20);
  if constexpr (requires { law.ramp_size; }) law.ramp_size = ByteScale(1e7);
  if constexpr (requires { law.cache; }) law.cache = ByteScale(1e7);
  if constexpr (requires { law.unsplit; }) law.split = law.unsplit = BytesPerSecond(1e15);
  Fit fit;
  fit.op = op;
  fit.format = "bf16";
  fit.law = law;
  fit.bands = {{Seconds(1), 0.9, 1.2}};
  return fit;
}

}  // namespace

TEST_CASE("a step takes the sum of its kernels, as wide as they are together") {
  Profile profile;
  profile.fits = {fit_of<GemmLaw>(OperatorClass::gemm, 1e-3),
                  fit_of<DecodeAttentionLaw>(OperatorClass::decode_attention, 2e-3)};
  const ModelSpec model = shapes::llama({32, 4096, 32, 8, 128, 14336, 128256});
  const Expected step = expected(decode_launches(model, {}, Tokens(100), 1), profile);
  REQUIRE(step.time);
  // 4 products and an attention in each of 32 layers, and the head.
  CHECK(step.time->value.v == doctest::Approx(32 * (4e-3 + 2e-3) + 1e-3).epsilon(0.01));
  CHECK(step.time->low.v == doctest::Approx(0.9 * step.time->value.v));
  CHECK(step.time->high.v == doctest::Approx(1.2 * step.time->value.v));
  CHECK(step.time->coverage == 0.8);
}

TEST_CASE("the kernels of a step are listed once each, with as much time as the step") {
  Profile profile;
  profile.fits = {fit_of<GemmLaw>(OperatorClass::gemm, 1e-3),
                  fit_of<DecodeAttentionLaw>(OperatorClass::decode_attention, 2e-3)};
  const ModelSpec model = shapes::llama({32, 4096, 32, 8, 128, 14336, 128256});
  const Launches launches = decode_launches(model, {}, Tokens(100), 1);
  double sum = 0;
  for (const KernelTime& kernel : kernel_times(launches, profile)) {
    REQUIRE(kernel.once);
    CHECK(kernel.all()->value.v ==
          doctest::Approx(static_cast<double>(kernel.count) * kernel.once->value.v));
    sum += kernel.all()->value.v;
  }
  CHECK(sum == doctest::Approx(expected(launches, profile).time->value.v));
}

TEST_CASE("where a kernel was never measured there is no sum, but a reason") {
  Profile profile;
  profile.fits = {fit_of<GemmLaw>(OperatorClass::gemm, 1e-3)};
  const ModelSpec model = shapes::llama({32, 4096, 32, 8, 128, 14336, 128256});
  const Expected step = expected(decode_launches(model, {}, Tokens(100), 1), profile);
  CHECK_FALSE(step.time);
  CHECK(step.why_not == "no fit for decode attention over bf16");
}

TEST_CASE("no expected time lies below its ceiling") {
  const Estimate e{Seconds(1), Seconds(0.9), Seconds(1.1), 0.8};
  const Estimate held = no_faster_than(Seconds(1.05), e);
  CHECK(held.low.v == 1.05);
  CHECK(held.value.v == 1.05);
  CHECK(held.high.v == 1.1);
  CHECK(no_faster_than(Seconds(0.5), e).low.v == 0.9);
}

TEST_CASE(
    "an exchange of tokens takes its fit's time twice a layer, and none is expected without") {
  Profile profile;
  profile.fits = {fit_of<GemmLaw>(OperatorClass::gemm, 1e-6),
                  fit_of<LatentLaw>(OperatorClass::latent_decode, 1e-6),
                  fit_of<MoeLaw>(OperatorClass::moe, 1e-3)};
  std::get<LatentLaw>(profile.fits[1].law).split = BytesPerSecond(1e15);
  std::get<MoeLaw>(profile.fits[2].law).shuffle = BytesPerSecond(1e18);
  const ModelSpec model = shapes::deepseek_v3();
  Deployment exchanging;
  exchanging.parallel.dp = exchanging.parallel.ep = 8;
  const Launches step = decode_launches(model, exchanging, Tokens(100), 8);
  CHECK(expected(step, profile).why_not == "no fit for tokens exchanged among GPUs");
  Fit exchange = fit_of<CollectiveLaw>(OperatorClass::collective, 1e-2);
  exchange.format = "";
  exchange.variant = "all_to_all NCCL";
  profile.fits.push_back(exchange);
  const auto time = expected(step, profile).time;
  REQUIRE(time);
  // In 58 layers: an exchange of 10 ms before and after 1 ms of experts.
  CHECK(time->value.v == doctest::Approx(58 * (2 * 1e-2 + 1e-3)).epsilon(0.01));
}
