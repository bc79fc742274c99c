// SPDX-License-Identifier: Apache-2.0
#include "plan/layouts.h"

#include <algorithm>
#include <array>

#include "cost/rank.h"
#include "model/parameters.h"
#include "plan/room.h"
#include "plan/speed.h"

namespace kvplan {
namespace {

constexpr std::array<std::int64_t, 12> kGpuCounts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
constexpr std::int64_t kNode = 8;  // GPUs of a server; beyond them a reduction leaves it
constexpr std::size_t kRowsOfACount = 5;

bool divides(const ModelSpec& model, const Parallelism& layout) {
  try {
    validate(model, layout);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// GPUs that reduce without leaving what joins them: a rack where links span one.
std::int64_t joined(const DeviceSpec& device) {
  return device.peer ? std::max(kNode, device.peer->gpus.value_or(kNode)) : kNode;
}

double rate_of(const LayoutRow& row) { return row.tokens_per_second.value_or(0); }

// Best first. Of equals the one that divides in fewer ways.
bool better(const LayoutRow& a, const LayoutRow& b) {
  if (a.meets() != b.meets()) return a.meets();
  const bool a_stays = a.verdict != LayoutRow::across_nodes,
             b_stays = b.verdict != LayoutRow::across_nodes;
  if (a_stays != b_stays) return a_stays;
  if (!a.meets() && a.users != b.users) return a.users.value_or(0) > b.users.value_or(0);
  if (rate_of(a) != rate_of(b)) return rate_of(a) > rate_of(b);
  const auto ways = [](const Parallelism& p) { return std::tuple(p.pp, p.dp, p.ep); };
  return ways(a.layout) < ways(b.layout);
}

// The counts to try, of a device that joins no others none above `most_alone`. Left out are those
// far from fitting: no layout divides weights further than by all GPUs.
std::vector<std::int64_t> counts_to_try(const Setup& setup, std::int64_t most_alone) {
  const DeviceSpec& device = setup.device.value();
  const Bytes weights = resident_weights(setup.model);
  std::vector<std::int64_t> counts;
  for (const std::int64_t gpus : kGpuCounts)
    if ((gpus <= most_alone || device.joins_others()) &&
        weights.n / gpus <= 2 * device.memory.value.n)
      counts.push_back(gpus);
  return counts;
}

// The best one, a few more that meet the need, and the question's own.
void append(std::vector<LayoutRow>& to, const std::vector<LayoutRow>& rows, std::size_t most) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i == 0 || (i < most && rows[i].meets()) || rows[i].own) to.push_back(rows[i]);
}

}  // namespace

std::vector<Parallelism> layouts_of(const Setup& setup, std::int64_t gpus) {
  std::vector<Parallelism> found;
  const auto add = [&](Parallelism layout) {
    if (divides(setup.model, layout)) found.push_back(layout);
  };
  Parallelism layout;
  if (setup.engine.name == "llama.cpp" || setup.engine.name == "ollama") {
    layout.pp = gpus;
    add(layout);
    return found;
  }
  const bool experts = has_experts(setup.model);
  for (layout.tp = gpus; layout.tp >= 1; --layout.tp) {
    if (gpus % layout.tp != 0) continue;
    for (layout.dp = 1; layout.dp <= gpus / layout.tp; ++layout.dp) {
      if (gpus / layout.tp % layout.dp != 0) continue;
      layout.pp = gpus / layout.tp / layout.dp;
      const std::int64_t ranks = layout.tp * layout.dp;
      layout.ep = 1;
      add(layout);
      layout.ep = ranks;
      if (experts && layout.dp > 1) add(layout);
    }
  }
  return found;
}

LayoutRow evaluate_layout(const Setup& setup, const Parallelism& layout, const Need& need) {
  Setup here = setup;
  here.deployment.parallel = layout;
  const Room room(here);
  LayoutRow row;
  row.layout = layout;
  row.batch = need.load.batch;
  row.own = layout == setup.deployment.parallel;
  row.weights =
      room.budget() ? room.budget()->weights.value : resident_on_fullest_gpu(here.model, layout);
  row.pool = room.pool();
  if (row.pool.n <= 0) return row;
  row.users = room.largest_batch(need.load.context);
  const DecodeModel decode(here.model, here.deployment, here.device.value());
  if (const auto alone = decode.at(need.load.context, 1).seconds)
    row.one_user = tokens_per_second(1, *alone);
  const std::int64_t batch = need.fill ? row.users.value_or(1) : need.load.batch;
  const Step step = decode.at(need.load.context, batch);
  if (step.seconds) {
    row.tokens_per_second = tokens_per_second(batch, *step.seconds);
    row.tokens_per_second_each = *row.tokens_per_second / static_cast<double>(batch);
    row.bound = step.bound;
  }
  const auto below = [](const std::optional<double>& rate, const std::optional<double>& asked) {
    return rate && asked && *rate < *asked;
  };
  if (!room.holds(need.load))
    row.verdict = LayoutRow::few_users;
  else if (below(row.tokens_per_second_each, need.tokens_per_second_each) ||
           below(row.tokens_per_second, need.tokens_per_second))
    row.verdict = LayoutRow::too_slow;
  else
    row.verdict = layout.tp > joined(*setup.device) ? LayoutRow::across_nodes : LayoutRow::slower;
  return row;
}

std::vector<LayoutRow> ranked_layouts(const Setup& setup, const Need& need, std::int64_t gpus) {
  std::vector<LayoutRow> rows;
  for (const Parallelism& layout : layouts_of(setup, gpus)) {
    try {
      rows.push_back(evaluate_layout(setup, layout, need));
    } catch (const Error&) {  // one that the engine does not run
    }
  }
  std::stable_sort(rows.begin(), rows.end(), better);
  for (LayoutRow& row : rows)
    if (rate_of(rows.front()) > 0 && row.tokens_per_second)
      row.relative = *row.tokens_per_second / rate_of(rows.front());
  return rows;
}

std::string options_of(const Parallelism& p) {
  std::string text = "--tp " + std::to_string(p.tp);
  for (const auto& [option, n] :
       {std::pair{" --pp ", p.pp}, {" --dp ", p.dp}, {" --ep ", p.ep}, {" --dcp ", p.dcp}})
    if (n > 1) text += option + std::to_string(n);
  return text;
}

std::optional<LayoutRow> fewest_gpus(const Setup& setup, const Need& need, std::int64_t most) {
  for (const std::int64_t gpus : counts_to_try(setup, 1)) {
    if (gpus > most) break;
    const std::vector<LayoutRow> rows = ranked_layouts(setup, need, gpus);
    if (!rows.empty() && rows.front().meets()) return rows.front();
  }
  return std::nullopt;
}

LayoutSearch search_layouts(const Setup& setup, const Need& need,
                            std::optional<std::int64_t> also) {
  LayoutSearch search;
  std::vector<LayoutRow> below;
  for (const std::int64_t gpus : counts_to_try(setup, also.value_or(1))) {
    std::vector<LayoutRow> rows = ranked_layouts(setup, need, gpus);
    if (!rows.empty() && rows.front().meets()) {
      rows.front().verdict = LayoutRow::chosen;
      search.best = rows.front();
      append(search.rows, below, 1);
      append(search.rows, rows, kRowsOfACount);
      break;
    }
    if (!rows.empty()) below = std::move(rows);
  }
  if (!search.best) append(search.rows, below, kRowsOfACount);
  const bool shown = std::any_of(search.rows.begin(), search.rows.end(), [&](const LayoutRow& row) {
    return also && row.layout.gpus() == *also;
  });
  if (!also || shown) return search;
  std::vector<LayoutRow> asked = ranked_layouts(setup, need, *also);
  const bool beyond = search.best && *also > search.best->layout.gpus();
  for (LayoutRow& row : asked)
    if (beyond && row.meets()) row.verdict = LayoutRow::more_gpus;
  append(search.rows, asked, kRowsOfACount);
  std::stable_sort(
      search.rows.begin(), search.rows.end(),
      [](const LayoutRow& a, const LayoutRow& b) { return a.layout.gpus() < b.layout.gpus(); });
  return search;
}

}  // namespace kvplan
