// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.h"
#include "model/parameters.h"
#include "plan/room.h"
#include "plan/solve.h"
#include "report/layouts.h"
#include "report/numbers.h"

namespace kvplan {
namespace {

std::string tokens_text(Tokens n) { return shown(value(n)); }
std::string rate_text(double rate) { return shown(rate, Show::tokens_per_second); }

// "at most 63.0 tokens/s (49.9 expected)" for each sequence; "" where nothing is known.
std::string each_text(const DecodeRow& row, std::string_view unit = " tokens/s") {
  const auto rate = [](Seconds step) { return rate_text(tokens_per_second(1, step)); };
  const auto& [ceiling, expected] = std::pair(row.step.seconds, row.expected.time);
  if (!ceiling) return expected ? fmt::format("about {}{}", rate(expected->value), unit) : "";
  return fmt::format("at most {}{}", rate(*ceiling), unit) +
         (expected ? fmt::format(" ({} expected)", rate(expected->value)) : "");
}

// " One user there gets at most 63.0 tokens/s (49.9 expected), each of 5 at most 49.6 (38.5
// expected)."
std::string rates_text(const std::vector<DecodeRow>& rows, Tokens context) {
  std::string text;
  for (const DecodeRow& row : rows) {
    if (row.context != context || each_text(row).empty()) continue;
    text += row.batch == 1 ? " One user there gets " + each_text(row)
                           : fmt::format(", each of {} {}", row.batch, each_text(row, ""));
  }
  return text.empty() ? "" : text + ".";
}

// The widest format in which this device holds the load. Empty: none, or memory is not at fault.
std::string format_that_fits(const Resolved& r, const PlanFacts& f) {
  if (f.sizing.fits) return {};
  const std::int64_t users = f.asked ? f.asked->batch : 1;
  for (const Rung& rung : f.ladder)
    if (rung.recipe != r.setup.model.recipe && rung.fits && rung.max_batch.value_or(0) >= users)
      return "weights in " + rung.recipe;
  return {};
}

// The best layout of as many GPUs as were asked for, where one meets the need.
const LayoutRow* other_layout(const PlanFacts& f, std::int64_t gpus) {
  for (const LayoutRow& row : f.layouts.rows)
    if (row.layout.gpus() == gpus && row.meets()) return &row;
  return nullptr;
}

// "6 such GPUs would do (TP2 PP3), or weights in fp8."
std::string remedy(const Resolved& r, const PlanFacts& f) {
  if (r.setup.engine.kv_pool) return "";
  const std::string format = format_that_fits(r, f);
  const auto& best = f.layouts.best;
  if (!best && format.empty())
    return r.setup.device->joins_others() ? " Not even 64 such GPUs would do."
                                          : " No weight format would do.";
  if (!best) return fmt::format(" W{} would do.", format.substr(1));
  const std::int64_t gpus = best->layout.gpus();
  const std::string how = gpus > 1 ? " (" + text_of(best->layout) + ")" : "";
  const std::string or_else = format.empty() ? "" : ", or " + format;
  const std::int64_t here = r.setup.deployment.parallel.gpus();
  if (const LayoutRow* other = gpus <= here ? other_layout(f, here) : nullptr)
    return fmt::format(" As {} {} would{}{}.", text_of(other->layout),
                       here > 1 ? fmt::format("these {}", here) : "it",
                       gpus < here ? fmt::format(", and so would {}{}", gpus, how) : " do",
                       or_else);
  return fmt::format(" {} such GPU{} would do{}{}.", gpus, gpus > 1 ? "s" : "", how, or_else);
}

// Memory would do, but the engine was told to take fewer sequences.
std::optional<std::string> closed_by_setting(const Resolved& r, const PlanFacts& f) {
  const std::string flag(sequences_flag(r.setup.engine.name));
  const auto& settings = r.setup.engine.settings;
  if (f.sizing.fits || !f.asked || !settings.contains(flag)) return std::nullopt;
  Setup open = r.setup;
  open.engine.settings[flag] = std::to_string(f.asked->batch);
  if (!Room(open).holds(*f.asked)) return std::nullopt;
  return fmt::format("No: {} has the memory for {} x {} tokens, but {} = {} lets no more in.",
                     subject(r), f.asked->batch, tokens_text(f.asked->context), flag,
                     settings.at(flag));
}

std::string refusal(const Resolved& r, const PlanFacts& f) {
  const std::string who = subject(r);
  if (f.sizing.pool.n <= 0)
    return fmt::format("No: {} leaves no memory for a cache (weights take {}).", who,
                       shown(value(resident_weights(r.setup.model))));
  if (!f.sizing.fits && f.asked)
    return fmt::format("No: {} cannot hold {} x {} tokens.", who, f.asked->batch,
                       tokens_text(f.asked->context));
  if (!f.sizing.fits)
    return fmt::format("No: {} leaves {} for the cache, less than one useful sequence.", who,
                       shown(value(f.sizing.pool)));
  if (!f.starts)
    return fmt::format(
        "No: vllm would refuse to start {} with --max-model-len {}: at most {} tokens fit.", who,
        f.refused_length->n, tokens_text(f.longest));
  const DecodeRow& row = f.rates.rows.front();
  const double each = tokens_per_second(1, *row.step.seconds);
  return fmt::format(
      "No: {} holds {} x {} tokens, but even its ceiling of {} tokens/s each ({} together) is "
      "below what was asked.",
      who, row.batch, tokens_text(row.context), rate_text(each),
      rate_text(each * static_cast<double>(row.batch)));
}

}  // namespace

std::string lead_of(const Resolved& r, const PlanFacts& f) {
  if (const auto text = closed_by_setting(r, f)) return *text;
  if (!f.yes()) return refusal(r, f) + (f.sizing.fits && !f.starts ? "" : remedy(r, f));
  const std::string who = subject(r);
  if (f.asked) {
    const std::string each = each_text(f.rates.rows.front());
    return fmt::format("Yes: {} holds {} x {} tokens{}.", who, f.asked->batch,
                       tokens_text(f.asked->context), each.empty() ? "" : "; each gets " + each);
  }
  const Tokens usual = std::min(kUsersContext, r.longest());
  std::string text = fmt::format("Yes: {} reaches {} tokens for one user", who,
                                 f.sizing.max_context ? tokens_text(*f.sizing.max_context) : "no");
  if (f.sizing.max_batch)
    text += fmt::format(", or {} user{} at {}", *f.sizing.max_batch,
                        *f.sizing.max_batch > 1 ? "s" : "", tokens_text(usual));
  return text + "." + rates_text(f.rates.rows, usual);
}

std::optional<std::string> default_length_note(const Resolved& r, const PlanFacts& f) {
  if (!f.refused_length || !f.starts || r.setup.engine.name != "vllm") return std::nullopt;
  return fmt::format(
      "vLLM would refuse to start at the model's own length of {} tokens: hence --max-model-len "
      "{}.",
      tokens_text(*f.refused_length), f.longest.n);
}

}  // namespace kvplan
