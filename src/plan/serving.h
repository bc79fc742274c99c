// SPDX-License-Identifier: Apache-2.0
// Requests per second of a server that is kept full: every request brings `input` tokens, gets
// `output`, and is followed by another at once.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cost/profile.h"
#include "cost/stage.h"
#include "plan/setup.h"

namespace kvplan {

struct Requests {
  Tokens input, output;    // of one request; both at least 1
  std::int64_t users = 1;  // requests at once, on all replicas together

  // Tokens of one request in the cache, on average while it runs.
  Tokens held() const { return Tokens(input.n + output.n / 2); }
};

struct Serving {
  Requests requests;
  bool fits = false;  // all users at once, by the engine's own account
  // GPU time that one request takes from all: 1 / requests per second.
  std::optional<Seconds> ceiling;
  Bound bound = Bound::bandwidth;
  std::optional<Seconds> least;  // from arrival to the last token, nobody else being served
  std::optional<Estimate> expected;
  std::optional<double> prompt_share;  // of the expected time
  std::string why_not;                 // where nothing is expected

  // Of all users, by GPU time for one request.
  double tokens_per_second(Seconds each) const {
    return static_cast<double>(requests.output.n) / each.v;
  }
  // With as many users in the system, each waits so long (Little 1961).
  Seconds until_done(Seconds each) const { return each * static_cast<double>(requests.users); }
};

// Requires a device. Expected (plan/expectation.h): steps and prompts take turns, prompts in
// passes of 8,192 tokens, as engines admit them. The ceiling overlaps the two.
Serving serving(const Setup&, const Requests&);

}  // namespace kvplan
