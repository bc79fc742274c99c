// SPDX-License-Identifier: Apache-2.0
// Another way to spread the model over its GPUs, and twice as many of them.
#include <algorithm>

#include "plan/layouts.h"
#include "plan/levers/ask.h"

namespace kvplan::lever {
namespace {

// Twice the ranks in one direction; experts go on over all of them where they did.
std::vector<Parallelism> doubled(const Ask& ask) {
  const Parallelism now = ask.q.setup.deployment.parallel;
  if (ask.gguf) return layouts_of(ask.q.setup, 2 * now.gpus());
  std::vector<Parallelism> all;
  for (std::int64_t Parallelism::*way : {&Parallelism::tp, &Parallelism::pp, &Parallelism::dp}) {
    Parallelism p = now;
    p.*way *= 2;
    if (now.ep > 1 && way != &Parallelism::pp) p.ep *= 2;
    all.push_back(p);
  }
  return all;
}

// Of layouts that all double the memory, the one that is fastest too.
double all_gains(const Lever& lever) {
  return lever.speed_gain.value_or(1) * lever.capacity_gain.value_or(1) *
         lever.first_token_gain.value_or(1);
}

}  // namespace

void other_layouts(const Ask& ask, Levers& found) {
  const auto as = [&](const Parallelism& layout, const char* name) {
    return attempt(ask, found, name, options_of(layout), "",
                   [&](Setup& s, Load&) { s.deployment.parallel = layout; });
  };
  const auto& other = ask.q.other_layout;
  if (other && !(*other == ask.q.setup.deployment.parallel))
    as(*other, "another layout of these GPUs");
  if (ask.q.setup.device && !ask.q.setup.device->joins_others()) return;
  Levers more;
  std::swap(found, more);
  for (const Parallelism& layout : doubled(ask)) as(layout, "twice the GPUs");
  std::swap(found, more);
  if (more.empty()) return;
  found.push_back(*std::max_element(more.begin(), more.end(), [](const Lever& a, const Lever& b) {
    if (a.makes_it_fit != b.makes_it_fit) return b.makes_it_fit;
    return all_gains(a) < all_gains(b);
  }));
}

}  // namespace kvplan::lever
