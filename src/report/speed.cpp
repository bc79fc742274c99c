// SPDX-License-Identifier: Apache-2.0
#include "report/speed.h"

namespace kvplan {

std::optional<DecodeCeiling> ceiling_of(const DecodeRow& row) {
  if (!row.step.seconds) return std::nullopt;
  const double all = tokens_per_second(row.batch, *row.step.seconds);
  return DecodeCeiling{all, all / static_cast<double>(row.batch), *row.step.seconds,
                       row.step.bound};
}

std::optional<DecodeTypical> typical_of(const DecodeRow& row) {
  if (!row.step.typical_seconds) return std::nullopt;
  return DecodeTypical{tokens_per_second(row.batch, *row.step.typical_seconds),
                       *row.step.typical_seconds};
}

// The shortest step is the highest rate.
std::optional<DecodeExpected> expected_of(const DecodeRow& row) {
  if (!row.expected.time) return std::nullopt;
  const Estimate& e = *row.expected.time;
  return DecodeExpected{tokens_per_second(row.batch, e.value), tokens_per_second(row.batch, e.high),
                        tokens_per_second(row.batch, e.low), e.coverage, e.value};
}

std::optional<PrefillExpected> expected_of(const PrefillRow& row) {
  if (!row.expected.time) return std::nullopt;
  const Estimate& e = *row.expected.time;
  return PrefillExpected{e.value, e.low, e.high, e.coverage};
}

std::optional<PrefillCeiling> ceiling_of(const PrefillRow& row) {
  if (!row.prefill.seconds) return std::nullopt;
  const std::int64_t tokens = checked_mul(row.prompt.n, row.batch);
  return PrefillCeiling{*row.prefill.seconds, tokens_per_second(tokens, *row.prefill.seconds),
                        row.prefill.bound};
}

}  // namespace kvplan
