// SPDX-License-Identifier: Apache-2.0
#include "plan/ladder.h"

#include "model/parameters.h"
#include "model/recipe.h"
#include "plan/sizing.h"
#include "plan/speed.h"

namespace kvplan {

std::vector<Rung> ladder(const Setup& setup, std::span<const std::string_view> recipes,
                         Tokens limit, Tokens users_context, Tokens speed_context) {
  std::vector<Rung> rungs;
  for (const std::string_view recipe : recipes) {
    Setup step = setup;
    step.model = apply_recipe(setup.model, recipe);
    const Sizing fits = sizing(step, std::nullopt, users_context, limit);
    Rung rung{std::string(recipe), resident_weights(step.model),
              fits.fits,           fits.max_context,
              fits.max_batch,      {}};
    const DecodeModel decode(step.model, step.deployment, step.device.value());
    if (const auto seconds = decode.at(speed_context, 1).seconds)
      rung.tokens_per_second = tokens_per_second(1, *seconds);
    rungs.push_back(std::move(rung));
  }
  return rungs;
}

}  // namespace kvplan
