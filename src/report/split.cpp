// SPDX-License-Identifier: Apache-2.0
#include "report/split.h"

#include "plan/speed.h"

namespace kvplan {
namespace {

std::optional<MachineCeiling> ceiling(const MachineRow& row, std::int64_t tokens) {
  if (!row.time.ceiling) return std::nullopt;
  const double all = tokens_per_second(tokens, *row.time.ceiling);
  return MachineCeiling{all, all / static_cast<double>(row.batch), *row.time.ceiling,
                        row.time.bound, row.bound_part};
}

std::optional<InTurn> in_turn(const MachineRow& row, std::int64_t tokens) {
  if (!row.time.in_turn) return std::nullopt;
  return InTurn{tokens_per_second(tokens, *row.time.in_turn), *row.time.in_turn};
}

std::int64_t prompt_tokens(const MachineRow& row) { return checked_mul(row.context.n, row.batch); }

}  // namespace

std::optional<MachineCeiling> ceiling_of(const DecodeOnMachine& row) {
  return ceiling(row, row.batch);
}
std::optional<InTurn> in_turn_of(const DecodeOnMachine& row) { return in_turn(row, row.batch); }

std::optional<DecodeExpected> expected_of(const DecodeOnMachine& row) {
  return expected_of(DecodeRow{row.context, row.batch, row.fits, {}, row.expected, {}});
}

std::optional<PrefillCeilingOnMachine> ceiling_of(const PrefillOnMachine& row) {
  const auto c = ceiling(row, prompt_tokens(row));
  return c ? std::optional(PrefillCeilingOnMachine{*c}) : std::nullopt;
}
std::optional<PrefillInTurn> in_turn_of(const PrefillOnMachine& row) {
  const auto t = in_turn(row, prompt_tokens(row));
  return t ? std::optional(PrefillInTurn{*t}) : std::nullopt;
}

std::optional<PrefillExpected> expected_of(const PrefillOnMachine& row) {
  return expected_of(PrefillRow{row.context, row.batch, {}, row.expected});
}

Object flags_object(const SplitAnswer& answer) {
  const llamacpp::Split& split = answer.choice.split;
  Array shares;
  for (const double share : split.shares) shares.push_back(value(share));
  return {{"n_gpu_layers", value(split.gpu_layers)},
          {"countable_layers", value(answer.countable)},
          {"n_cpu_moe", value(split.cpu_moe)},
          {"no_kv_offload", value(split.cache_on_host)},
          {"tensor_split", shares.empty() ? Value{} : value(std::move(shares))}};
}

}  // namespace kvplan
