// SPDX-License-Identifier: Apache-2.0
#include "plan/speed.h"

#include "plan/expectation.h"
#include "plan/room.h"

namespace kvplan {
namespace {

// Renting all GPUs for the seconds that a million tokens take.
std::optional<double> usd_per_million(const DeviceSpec& device, std::int64_t gpus, double rate) {
  if (!device.price || rate <= 0) return std::nullopt;
  const double usd_per_second = device.price->usd_per_hour_low * static_cast<double>(gpus) / 3600;
  return usd_per_second * 1e6 / rate;
}

}  // namespace

DecodeAnswer decode_answer(const Setup& setup, std::span<const Load> loads, Trace* first) {
  const DeviceSpec& device = setup.device.value();
  const DecodeModel model(setup.model, setup.deployment, device);
  const Room room(setup);

  DecodeAnswer answer;
  if (!loads.empty()) {
    answer.crossover_batch = model.crossover_batch(loads[0].context);
    answer.crossover_context = model.crossover_context(loads[0].batch);
  }
  for (const Load& load : loads) {
    Trace* trace = answer.rows.empty() ? first : nullptr;
    DecodeRow row{load.context, load.batch, false, model.at(load.context, load.batch, trace),
                  {},           {}};
    row.fits = room.holds(load);
    if (row.step.seconds)
      row.usd_per_million_tokens =
          usd_per_million(device, setup.deployment.parallel.gpus(),
                          tokens_per_second(load.batch, *row.step.seconds));
    row.expected = expected_step(setup, load, row.step.seconds);
    answer.rows.push_back(row);
  }
  return answer;
}

std::vector<PrefillRow> prefill_answer(const Setup& setup, std::span<const Load> loads,
                                       Trace* first) {
  std::vector<PrefillRow> rows;
  for (const Load& load : loads) {
    Trace* trace = rows.empty() ? first : nullptr;
    PrefillRow row{load.context,
                   load.batch,
                   prefill(setup.model, setup.deployment, setup.device.value(), load.context,
                           load.batch, trace),
                   {}};
    row.expected = expected_prompt(setup, load, row.prefill.seconds);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kvplan
