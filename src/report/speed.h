// SPDX-License-Identifier: Apache-2.0
// "decode" and "prefill": rates by load. A ceiling is absent where the datasheet lacks a number.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/speed.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

struct DecodeCeiling {
  double tokens_per_second, per_sequence;
  Seconds step;
  Bound bound;
};
struct DecodeTypical {
  double tokens_per_second;
  Seconds step;
};
struct DecodeExpected {
  double tokens_per_second, low, high, coverage;
  Seconds step;
};
struct PrefillExpected {
  Seconds seconds, low, high;
  double coverage;
};
struct PrefillCeiling {
  Seconds seconds;
  double tokens_per_second;
  Bound bound;
};

std::optional<DecodeCeiling> ceiling_of(const DecodeRow&);
std::optional<DecodeTypical> typical_of(const DecodeRow&);
std::optional<PrefillCeiling> ceiling_of(const PrefillRow&);
std::optional<DecodeExpected> expected_of(const DecodeRow&);
std::optional<PrefillExpected> expected_of(const PrefillRow&);

template <>
inline constexpr auto description<DecodeCeiling> =
    std::tuple{field("tokens_per_second", &DecodeCeiling::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second),
               field("tokens_per_second_per_sequence", &DecodeCeiling::per_sequence, "tok/s each")
                   .unless_same_as("tokens_per_second")
                   .sparing(2)
                   .as(Show::tokens_per_second),
               field("step_seconds", &DecodeCeiling::step, "step").sparing(1),
               field("bound", &DecodeCeiling::bound, "bound by").sparing(4)};

template <>
inline constexpr auto description<DecodeTypical> =
    std::tuple{field("tokens_per_second", &DecodeTypical::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second),
               field("step_seconds", &DecodeTypical::step)};

template <>
inline constexpr auto description<DecodeExpected> =
    std::tuple{field("tokens_per_second", &DecodeExpected::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second)
                   .between("low", "high")
                   .where_known(),
               field("low", &DecodeExpected::low).as(Show::tokens_per_second),
               field("high", &DecodeExpected::high).as(Show::tokens_per_second),
               field("coverage", &DecodeExpected::coverage).as(Show::percent),
               field("step_seconds", &DecodeExpected::step)};

template <>
inline constexpr auto description<PrefillExpected> = std::tuple{
    field("seconds", &PrefillExpected::seconds, "TTFT").between("low", "high").where_known(),
    field("low", &PrefillExpected::low), field("high", &PrefillExpected::high),
    field("coverage", &PrefillExpected::coverage).as(Show::percent)};

template <>
inline constexpr auto description<DecodeRow> = std::tuple{
    field("context", &DecodeRow::context, "context"),
    field("batch", &DecodeRow::batch, "batch"),
    field("fits", &DecodeRow::fits, "fits"),
    field(
        "weight_bytes", [](const DecodeRow& r) { return r.step.weight_bytes; }, "weights")
        .where_it_varies(),
    field(
        "kv_bytes", [](const DecodeRow& r) { return r.step.kv_bytes; }, "KV cache")
        .sparing(3),
    field("flops", [](const DecodeRow& r) { return r.step.flops; }),
    field("ceiling", [](const DecodeRow& r) { return ceiling_of(r); }),
    field(
        "expected", [](const DecodeRow& r) { return expected_of(r); }, "expected")
        .where_known(),
    field(
        "typical", [](const DecodeRow& r) { return typical_of(r); }, "typical")
        .where_known(),
    field("usd_per_million_tokens", &DecodeRow::usd_per_million_tokens, "$ per M tokens")
        .as(Show::usd)
        .where_known()};

template <>
inline constexpr auto description<DecodeAnswer> =
    std::tuple{field("crossover_batch", &DecodeAnswer::crossover_batch, "crossover batch"),
               field("crossover_context", &DecodeAnswer::crossover_context, "crossover context"),
               field("rows", &DecodeAnswer::rows)};

template <>
inline constexpr auto description<PrefillCeiling> =
    std::tuple{field("seconds", &PrefillCeiling::seconds, "TTFT"),
               field("tokens_per_second", &PrefillCeiling::tokens_per_second, "tok/s")
                   .sparing(1)
                   .as(Show::tokens_per_second),
               field("bound", &PrefillCeiling::bound, "bound by")};

template <>
inline constexpr auto description<PrefillRow> =
    std::tuple{field("prompt", &PrefillRow::prompt, "prompt"),
               field("batch", &PrefillRow::batch, "batch"),
               field(
                   "flops", [](const PrefillRow& r) { return r.prefill.flops; }, "work"),
               field(
                   "attention_flops", [](const PrefillRow& r) { return r.prefill.attention_flops; },
                   "attention")
                   .sparing(1),
               field("weight_bytes", [](const PrefillRow& r) { return r.prefill.weight_bytes; }),
               field(
                   "kv_bytes", [](const PrefillRow& r) { return r.prefill.kv_bytes; }, "KV cache"),
               field("ceiling", [](const PrefillRow& r) { return ceiling_of(r); }),
               field(
                   "expected", [](const PrefillRow& r) { return expected_of(r); }, "expected")
                   .where_known()};

}  // namespace kvplan
