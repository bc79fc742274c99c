// SPDX-License-Identifier: Apache-2.0
#include "plan/sizing.h"

#include <algorithm>

#include "plan/room.h"

namespace kvplan {
namespace {

constexpr Tokens kUsefulContext{2048};  // the least that a plan calls "it fits"

}  // namespace

Sizing sizing(const Setup& setup, const std::optional<Load>& asked, Tokens usual, Tokens limit) {
  const Room room(setup);
  Sizing result;
  result.budget = room.budget();
  result.pool = room.pool();
  result.capacity = room.engine().capacity(std::max(room.pool(), Bytes(0)),
                                           setup.engine.max_model_len.value_or(limit));
  result.max_context = room.largest_context(1, limit);
  result.max_batch = room.largest_batch(asked ? asked->context : usual);
  result.fits = room.holds(asked.value_or(Load{std::min(kUsefulContext, limit), 1}));
  return result;
}

}  // namespace kvplan
