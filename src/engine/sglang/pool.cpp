// SPDX-License-Identifier: Apache-2.0
#include "engine/sglang/pool.h"

#include <algorithm>
#include <cmath>

namespace kvplan::sglang {
namespace {

Bytes floored(double bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }
Bytes raised(double bytes) { return Bytes(static_cast<std::int64_t>(std::ceil(bytes))); }

// Rows of a page of one layer; a compressed cache has fewer.
std::int64_t rows_of_page(const CacheGroup& group, std::int64_t page) {
  const auto* compressed = std::get_if<Compressed>(&group.law);
  if (!compressed) return page;
  if (page % compressed->ratio != 0)
    throw Error("is no multiple of " + std::to_string(compressed->ratio) +
                ", the tokens of a compressed row")
        .of("page_size");
  return page / compressed->ratio;
}

void add_window(Rank& rank, Tokens size, Bytes page, const Serving& s) {
  if (s.shared_windows) {
    rank.per_page += page;
    return;
  }
  rank.window = std::max(rank.window, size);
  rank.window_per_page += page;
}

// A compressor's ring is shorter than the window, or holds a whole stretch of 128 tokens.
void add_state(Rank& rank, CacheGroup group, const Serving& s, std::int64_t tp) {
  Recurrent& mixer = std::get<State>(group.law).mixer;
  if (mixer.kind == Recurrent::compressor) return;  // add_rings() has them
  mixer.state_format = s.state_format;
  rank.state += state_bytes(group, {tp, 1}) * static_cast<std::int64_t>(group.layers.size());
}

// The fp32 rows that DeepSeek-V4's compressors sum up: values and weights, of ratio 4 those of the
// neighbours too. Short rings are shared out over the tokens of a window, long ones are a
// request's.
void add_rings(Rank& rank, const CacheGroup& group, const Serving& s) {
  const auto* law = std::get_if<Compressed>(&group.law);
  if (!law) return;
  std::int64_t width = 0;
  for (const Part& part : group.entry) width += checked_mul(part.heads, part.width);
  const bool overlaps = law->ratio == 4;
  const std::int64_t rows = overlaps ? 2 * law->ratio : law->ratio;
  const std::int64_t numbers = checked_mul(checked_mul(rows, overlaps ? 4 : 2), width);
  const Bytes bytes = payload_bytes(format_named("fp32"), numbers, 1) *
                      checked_mul(static_cast<std::int64_t>(group.layers.size()), s.rings);
  (rows < rank.window.n ? rank.ring : rank.per_request) += bytes;
}

void add(Rank& rank, const CacheGroup& group, const Serving& s, std::int64_t tp) {
  const auto layers = static_cast<std::int64_t>(group.layers.size());
  if (std::holds_alternative<Source>(group.law))
    throw Error("how SGLang keeps the caches of encoder tokens is not known").of("--engine");
  const Bytes page = entry_bytes(group, {tp, 1}) * rows_of_page(group, s.page) * layers;
  if (const auto* w = std::get_if<Window>(&group.law))
    add_window(rank, w->size, page, s);
  else if (const auto* c = std::get_if<Chunk>(&group.law))
    add_window(rank, c->size, page, s);
  else
    rank.per_page += page;
}

double per_token(const Rank& rank, const Serving& s) {
  const auto page = static_cast<double>(s.page);
  double window = rank.window_per_page.real() / page;
  if (rank.window.n > 0) window += rank.ring.real() / static_cast<double>(rank.window.n);
  return rank.per_page.real() / page + s.window_share * window;
}

// States of drafted tokens are set aside before the pools are shared out.
Bytes set_aside(const Rank& rank, const Serving& s) {
  return rank.state * checked_mul(s.requests, s.draft_tokens) + rank.per_request * s.slots;
}

// States that their share of what is left pays for.
std::int64_t states_of(Bytes left, const Rank& rank, const Serving& s) {
  const Bytes share = floored(left.real() * s.state_share / (1 + s.state_share));
  return std::max<std::int64_t>(share / rank.state - (s.pads_states ? 1 : 0), 0);
}

}  // namespace

Rank rank_of(const std::vector<CacheGroup>& groups, const Serving& s, std::int64_t tp,
             std::int64_t layers) {
  Rank rank;
  for (const CacheGroup& group : groups)  // windows first: rings are measured by them
    if (!std::holds_alternative<State>(group.law)) add(rank, group, s, tp);
  for (const CacheGroup& group : groups)
    if (std::holds_alternative<State>(group.law))
      add_state(rank, group, s, tp);
    else
      add_rings(rank, group, s);
  if (s.draft_layers > 0 && layers > 0)
    for (Bytes* bytes : {&rank.per_page, &rank.window_per_page, &rank.ring})
      bytes->n = mul_div(bytes->n, checked_add(layers, s.draft_layers), layers);
  return rank;
}

Held held_by(Bytes pool, const Rank& rank, const Serving& s) {
  Held held;
  Bytes left = std::max(pool - set_aside(rank, s), Bytes(0));
  if (rank.state.n > 0) {
    const std::int64_t states = s.states ? *s.states : states_of(left, rank, s);
    held.requests = states / s.states_per_request;
    left -= rank.state * checked_add(states, s.pads_states ? 1 : 0);
  }
  const double each = per_token(rank, s);
  if (each <= 0 || left.n <= 0) return held;
  const auto paged = [&](double tokens) {
    return static_cast<std::int64_t>(tokens) / s.page * s.page;
  };
  held.tokens = paged(rank.window.n == 0 ? Tokens(left.n / rank.per_page.n * s.page).real()
                                         : left.real() / each);
  if (s.max_tokens) held.tokens = std::min(held.tokens, paged(static_cast<double>(*s.max_tokens)));
  if (rank.window.n > 0)
    held.window_tokens = paged(static_cast<double>(held.tokens) * s.window_share);
  return held;
}

Bytes pool_for(Tokens context, std::int64_t batch, const Rank& rank, const Serving& s) {
  std::int64_t tokens = checked_mul(round_up(context.n, s.page), batch);
  Bytes pool;
  if (rank.window.n > 0) {
    const std::int64_t kept = checked_mul(
        round_up(std::min(context.n, checked_add(rank.window.n, s.page)), s.page), batch);
    const double needed = std::ceil(static_cast<double>(kept) / s.window_share);
    tokens = std::max(tokens, round_up(static_cast<std::int64_t>(needed), s.page));
    pool = raised(static_cast<double>(tokens) * per_token(rank, s));
  } else {
    pool = rank.per_page * (tokens / s.page);
  }
  if (rank.state.n > 0) {
    const std::int64_t wanted =
        std::max(checked_mul(batch, s.states_per_request), s.states.value_or(0));
    const Bytes states = rank.state * checked_add(wanted, s.pads_states ? 1 : 0);
    const double q = s.state_share;
    pool = s.states ? pool + states
                    : raised(std::max(pool.real() * (1 + q), states.real() * (1 + q) / q));
  }
  return pool + set_aside(rank, s);
}

}  // namespace kvplan::sglang
