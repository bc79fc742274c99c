// SPDX-License-Identifier: Apache-2.0
// What a calibration says of a machine, as rows for people and for JSON.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/session.h"
#include "calibrate/whole_step.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

// One kind of work, over all its shapes.
struct RateRow {
  std::string what, load;  // "weights bf16", "1 row"; "decode attention bf16", "8 q/KV head"
  std::optional<BytesPerSecond> bytes;
  std::optional<FlopsPerSecond> flops;
  std::optional<double> of_stream, of_peak, noise;
  std::optional<Bound> bound;  // the nearer of the two
  std::int64_t shapes = 0;
};
template <>
inline constexpr auto description<RateRow> =
    std::tuple{field("what", &RateRow::what, "measured"),
               field("load", &RateRow::load, "with"),
               field("bytes_per_second", &RateRow::bytes, "memory"),
               field("flops_per_second", &RateRow::flops, "arithmetic"),
               field("of_stream", &RateRow::of_stream, "of stream").as(Show::percent),
               field("of_peak", &RateRow::of_peak, "of peak").as(Show::percent),
               field("bound", &RateRow::bound, "binds"),
               field("noise", &RateRow::noise, "noise").as(Show::percent),
               field("shapes", &RateRow::shapes)};

// Streams first. Each row has the medians of the larger half of its shapes.
std::vector<RateRow> rate_rows(const Session&);

// Every shape with all its samples.
Array shape_rows(const Session&);
// What registers allow, by what is multiplied; and as text: "fp32 236 GFLOP/s, bf16 472 GFLOP/s".
Array peak_rows(const Session&);
std::string peaks_of(const Session&);

struct ProofRow {
  std::string step, weights;
  std::int64_t batch = 1;
  Tokens context;
  Seconds predicted, low, high, measured;
  double error = 0, noise = 0;
  std::optional<double> error_of_stream, stream_noise;
  bool judged = false;
  std::int64_t disturbed = 0;
};
template <>
inline constexpr auto description<ProofRow> =
    std::tuple{field("step", &ProofRow::step, "step"),
               field("weights", &ProofRow::weights, "weights"),
               field("batch", &ProofRow::batch, "batch"),
               field("tokens", &ProofRow::context, "tokens"),
               field("predicted_seconds", &ProofRow::predicted, "predicted")
                   .between("low_seconds", "high_seconds"),
               field("low_seconds", &ProofRow::low),
               field("high_seconds", &ProofRow::high),
               field("measured_seconds", &ProofRow::measured, "measured"),
               field("error", &ProofRow::error, "error").as(Show::percent),
               field("error_of_stream", &ProofRow::error_of_stream, "by stream").as(Show::percent),
               field("noise", &ProofRow::noise, "noise").as(Show::percent).sparing(1),
               field("stream_noise", &ProofRow::stream_noise, "stream's noise").as(Show::percent),
               field("judged", &ProofRow::judged),
               field("disturbed", &ProofRow::disturbed)};

std::vector<ProofRow> proof_rows(const Proof&, const SamplingRules&);

}  // namespace kvplan
