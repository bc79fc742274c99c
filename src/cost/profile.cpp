// SPDX-License-Identifier: Apache-2.0
#include "cost/profile.h"

#include <algorithm>
#include <cmath>

namespace kvplan {
namespace {

constexpr std::int64_t kSplitTokens = 256;  // shortest part of a cache that one block takes

// Reductions go over the link, everything else over memory.
std::optional<BytesPerSecond> rate_of(OperatorClass op, const DeviceSpec& device) {
  if (op != OperatorClass::collective) return device.bandwidth.value;
  if (!device.peer) return std::nullopt;
  return device.peer->per_direction.value;
}

// The longer of two overlapping times, rounded where both matter.
Seconds smooth_max(Seconds a, Seconds b, double sharpness) {
  const double most = std::max(a.v, b.v);
  if (most <= 0) return Seconds(0);
  const double sum = std::pow(a.v / most, sharpness) + std::pow(b.v / most, sharpness);
  return Seconds(most * std::pow(sum, 1 / sharpness));
}

// How well a fit suits a demand: 0 not at all, more is better.
int suits(const Fit& fit, const Demand& demand) {
  if (fit.op != demand.work.op) return 0;
  if (!fit.format.empty() && (!demand.format || fit.format != demand.format->name)) return 0;
  if (fit.width != 0 && fit.width != demand.width) return 0;
  return 1 + 2 * !fit.format.empty() + (fit.width != 0);
}

}  // namespace

Estimate operator+(const Estimate& a, const Estimate& b) {
  return {a.value + b.value, a.low + b.low, a.high + b.high, std::min(a.coverage, b.coverage)};
}

Estimate operator*(std::int64_t times, const Estimate& e) {
  const auto n = static_cast<double>(times);
  return {n * e.value, n * e.low, n * e.high, e.coverage};
}

Demand demand_of(const GemmShape& s) {
  return {work_of(s), s.weights, 0, static_cast<double>(s.k),
          static_cast<double>(checked_mul(ceil_div(s.m, 128), ceil_div(s.n, 128)))};
}

Demand demand_of(const DecodeAttentionShape& s) {
  const std::int64_t rows = checked_mul(s.batch, s.kv_heads);
  return {work_of(s), s.key, s.k_width, static_cast<double>(rows),
          static_cast<double>(checked_mul(rows, ceil_div(s.context, kSplitTokens)))};
}

Demand demand_of(const LatentDecodeShape& s) {
  return {work_of(s), s.latent_format, s.latent + s.rope, static_cast<double>(s.batch),
          static_cast<double>(checked_mul(s.batch, ceil_div(s.context, kSplitTokens)))};
}

Demand demand_of(const PrefillAttentionShape& s) {
  const std::int64_t rows = checked_mul(s.batch, s.heads);
  return {work_of(s), s.cache, s.k_width, 0,
          static_cast<double>(checked_mul(rows, ceil_div(s.queries, 128)))};
}

Demand demand_of_collective(Bytes bytes, std::int64_t gpus) {
  Demand demand;
  demand.work = {bytes, bytes, Flops(0), Precision::bf16, OperatorClass::collective};
  demand.serial = static_cast<double>(gpus);
  return demand;
}

Demand demand_of_stream(Bytes bytes, bool copy) {
  Demand demand;
  demand.work = {bytes, bytes, Flops(0), Precision::fp32,
                 copy ? OperatorClass::stream_copy : OperatorClass::stream_read};
  return demand;
}

Estimate Fit::time(const Demand& demand, const DeviceSpec& device) const {
  Seconds memory, arithmetic;
  const double bytes = demand.work.moved.real();
  if (const auto rate = rate_of(op, device)) memory = Seconds(bytes / (bandwidth_share * rate->v));
  memory += Seconds(bytes / std::max(1.0, demand.blocks) * per_block_byte.v);
  if (demand.format && demand.work.flops.v > 0)
    if (const auto peak = device.peak_for(*demand.format))
      arithmetic = demand.work.flops / (*peak * arithmetic_share);
  const Seconds value =
      start + demand.serial * per_serial + smooth_max(memory, arithmetic, sharpness);
  return {value, value * ratio_low, value * ratio_high, coverage};
}

std::optional<Estimate> Profile::time(const Demand& demand, const DeviceSpec& on) const {
  const Fit* best = nullptr;
  for (const Fit& fit : fits)
    if (suits(fit, demand) > (best ? suits(*best, demand) : 0)) best = &fit;
  if (!best) return std::nullopt;
  return best->time(demand, on);
}

}  // namespace kvplan
