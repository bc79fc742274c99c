// SPDX-License-Identifier: Apache-2.0
#include "plan/lengths.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "plan/reservation.h"
#include "plan/room.h"

namespace kvplan {
namespace {

// Nearest-rank quantile of sorted values.
Tokens quantile(const std::vector<std::int64_t>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return Tokens(sorted[std::max<std::size_t>(rank, 1) - 1]);
}

// Bytes of one sequence by length, each length computed once.
class Held {
 public:
  explicit Held(const Engine& engine) : engine_(engine) {}
  double operator()(std::int64_t tokens) {
    const auto [at, fresh] = known_.try_emplace(tokens, 0);
    if (fresh) at->second = engine_.reserved(Tokens(tokens), 1).real();
    return at->second;
  }

 private:
  const Engine& engine_;
  std::unordered_map<std::int64_t, double> known_;
};

// Mean of f over the lengths that a request goes through while it runs, by the midpoints of eight
// parts; exact where f is linear.
template <class F>
double over_life(const RequestLength& r, F&& f) {
  constexpr std::int64_t kParts = 8;
  double sum = 0;
  for (std::int64_t i = 0; i < kParts; ++i)
    sum += f(r.input + mul_div(std::max<std::int64_t>(r.output, 1), 2 * i + 1, 2 * kParts));
  return sum / kParts;
}

// A mean over running requests: one is met as often as it takes steps.
template <class F>
double mean_running(std::span<const RequestLength> lengths, F&& f) {
  double sum = 0, steps = 0;
  for (const RequestLength& r : lengths) {
    const auto weight = static_cast<double>(std::max<std::int64_t>(r.output, 1));
    sum += weight * over_life(r, f);
    steps += weight;
  }
  return sum / steps;
}

LengthSummary summary_of(std::span<const RequestLength> lengths, std::optional<Tokens> accepted) {
  LengthSummary s;
  std::vector<std::int64_t> totals;
  double inputs = 0, outputs = 0;
  for (const RequestLength& r : lengths) {
    totals.push_back(r.total());
    inputs += static_cast<double>(r.input);
    outputs += static_cast<double>(r.output);
  }
  std::sort(totals.begin(), totals.end());
  s.requests = static_cast<std::int64_t>(totals.size());
  const auto n = static_cast<double>(s.requests);
  s.mean_input = inputs / n;
  s.mean_output = outputs / n;
  s.median = quantile(totals, 0.5);
  s.p90 = quantile(totals, 0.9);
  s.p99 = quantile(totals, 0.99);
  s.longest = Tokens(totals.back());
  s.reserved = accepted.value_or(s.longest);
  const double running =
      mean_running(lengths, [](std::int64_t t) { return static_cast<double>(t); });
  s.running = Tokens(static_cast<std::int64_t>(std::ceil(running)));
  return s;
}

std::optional<std::int64_t> times(const Room& room, double bytes, std::int64_t replicas) {
  if (bytes <= 0 || room.pool().n <= 0) return std::nullopt;
  return checked_mul(static_cast<std::int64_t>(room.pool().real() / bytes), replicas);
}

}  // namespace

LengthAnswer length_answer(const Setup& setup, std::span<const RequestLength> lengths) {
  const auto accepted = setup.engine.max_model_len;
  std::vector<RequestLength> kept;
  for (const RequestLength& r : lengths)
    if (!accepted || r.total() <= accepted->n) kept.push_back(r);
  if (kept.empty())
    throw Error("every request is longer than the engine accepts")
        .of("--lengths")
        .advise("Raise --max-model-len.");
  LengthAnswer answer;
  answer.summary = summary_of(kept, accepted);
  answer.summary.too_long = static_cast<std::int64_t>(lengths.size() - kept.size());

  const auto engine = make_engine(setup.engine, setup.model, setup.deployment);
  std::optional<Room> room;
  if (setup.device || setup.engine.kv_pool) room.emplace(setup);
  Held held(*engine);
  const auto add = [&](Reservation::Kind kind, std::optional<std::int64_t> block, double waste,
                       double bytes) {
    Reservation row{kind, block, waste, Bytes(static_cast<std::int64_t>(bytes)), {}};
    if (room) row.requests = times(*room, bytes, setup.deployment.parallel.dp);
    answer.rows.push_back(row);
  };

  std::vector<std::int64_t> totals;
  double final_bytes = 0;
  for (const RequestLength& r : kept) {
    totals.push_back(r.total());
    final_bytes += held(r.total()) / static_cast<double>(kept.size());
  }
  const Tokens piece = answer.summary.reserved;
  const auto block =
      engine->capacity(room ? std::max(room->pool(), Bytes(0)) : Bytes(0), piece).block_tokens;
  const Waste waste = reservation_waste(totals, piece.n, block.value_or(1));
  add(Reservation::contiguous, {}, waste.contiguous, held(piece.n));
  if (block) add(Reservation::paged, block, waste.paged, final_bytes);
  add(Reservation::running, block, waste.paged, mean_running(kept, held));
  return answer;
}

}  // namespace kvplan
