// SPDX-License-Identifier: Apache-2.0
#include "plan/solve.h"

#include <array>
#include <string>

#include "cost/decode.h"
#include "plan/room.h"
#include "plan/speed.h"
#include "search.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostSequences = 1 << 20;

struct SequencesFlag {
  std::string_view engine, flag;
};
constexpr std::array kSequencesFlags = {
    SequencesFlag{"vllm", "max_num_seqs"}, SequencesFlag{"sglang", "max_running_requests"},
    SequencesFlag{"trtllm", "max_batch_size"}, SequencesFlag{"llama.cpp", "parallel"},
    SequencesFlag{"ollama", "num_parallel"}};

}  // namespace

std::optional<double> least_utilization(const Setup& setup, const Load& load) {
  constexpr std::int64_t kMost = 99;
  Setup here = setup;
  here.engine.kv_pool.reset();
  if (const Room room(here); !room.budget()->utilization) return std::nullopt;
  const auto share = [](std::int64_t left) { return static_cast<double>(kMost - left) / 100; };
  // The most that can be left out, so that what fits, fits from the start on.
  const auto left = largest(0, kMost - 1, [&](std::int64_t n) {
    here.engine.utilization = share(n);
    return Room(here).holds(load);
  });
  return left ? std::optional(share(*left)) : std::nullopt;
}

std::string_view sequences_flag(std::string_view engine) {
  for (const SequencesFlag& known : kSequencesFlags)
    if (known.engine == engine) return known.flag;
  return {};
}

std::optional<std::int64_t> most_sequences(const Setup& setup, Tokens context) {
  const std::string flag(sequences_flag(setup.engine.name));
  if (flag.empty()) return std::nullopt;
  Setup here = setup;
  return largest(1, kMostSequences, [&](std::int64_t n) {
    here.engine.settings[flag] = std::to_string(n);
    return Room(here).holds({context, checked_mul(n, here.deployment.parallel.dp)});
  });
}

std::optional<std::int64_t> most_users_at(const Setup& setup, Tokens context, double each) {
  const Room room(setup);
  const DecodeModel decode(setup.model, setup.deployment, setup.device.value());
  return largest(1, kMostSequences, [&](std::int64_t n) {
    if (!room.holds({context, n})) return false;
    const auto step = decode.at(context, n).seconds;
    return !step || tokens_per_second(1, *step) >= each;
  });
}

}  // namespace kvplan
