// SPDX-License-Identifier: Apache-2.0
#include "calibrate/table_remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>

#include "calibrate/classes.h"
#include "calibrate/fit.h"
#include "calibrate/statistics.h"
#include "cost/columns.h"

namespace kvplan {
namespace {

using Counts = std::map<std::string, std::int64_t>;

std::string rows(std::int64_t n) { return fmt::format("{} row{}", n, n == 1 ? "" : "s"); }

// "40 of gpu a100, 8 of dtype fp8_block and 3 of 2 further kinds": the most first.
std::string listed(const Counts& counts) {
  constexpr std::size_t kMost = 6;
  std::vector<std::pair<std::string, std::int64_t>> all(counts.begin(), counts.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  std::int64_t further = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < kMost)
      text += fmt::format("{}{} of {}", i ? ", " : "", all[i].second, all[i].first);
    else
      further += all[i].second;
  if (further > 0) text += fmt::format(" and {} of {} further kinds", further, all.size() - kMost);
  return text;
}

std::int64_t sum_of(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [what, n] : counts) sum += n;
  return sum;
}

std::string described(const Class& c) {
  std::string text(name_of(c.op));
  for (const std::string& part : {c.format, c.variant})
    if (!part.empty()) text += " " + part;
  return text;
}

Counts without_fit(const std::vector<Measured>& measured, const std::vector<Fit>& fits) {
  Counts counts;
  for (const Measured& row : measured) {
    const auto classes = classes_of(row);
    const bool fitted = std::any_of(classes.begin(), classes.end(), [&](const Class& c) {
      return std::any_of(fits.begin(), fits.end(), [&](const Fit& f) {
        return f.op == c.op && f.format == c.format && f.variant == c.variant;
      });
    });
    if (!fitted) ++counts[described(classes.back())];
  }
  return counts;
}

std::string spelled(const Measured& row) {
  std::string text = row.variant;
  for (const auto& [column, cell] : cells_of(row.shape))
    text += " " + std::string(column) + " " + cell;
  return text;
}

// Rows whose shape the fit saw too: they say nothing of unseen ones.
std::int64_t seen(const std::vector<Measured>& fitted, const std::vector<Measured>& judging) {
  if (judging.empty()) return 0;
  std::unordered_set<std::string> shapes;
  for (const Measured& row : fitted) shapes.insert(spelled(row));
  return std::count_if(judging.begin(), judging.end(),
                       [&](const Measured& row) { return shapes.count(spelled(row)) > 0; });
}

// The least time that the memory of the device allows for a shape, over the measured one.
std::vector<double> shares_of_memory(const MeasuredTable& table, const DeviceSpec& device) {
  std::vector<double> shares;
  if (device.bandwidth.value == BytesPerSecond(0)) return shares;  // not known
  for (const Measured& row : table.rows)
    std::visit(
        [&](const auto& shape) {
          if constexpr (requires { work_of(shape); })
            shares.push_back(work_of(shape).distinct / device.bandwidth.value / row.time);
        },
        row.shape);
  return shares;
}

}  // namespace

void require_plausible(const MeasuredTable& table, const DeviceSpec& device) {
  constexpr double kBeyondAnyCache = 100;  // times the bandwidth of memory
  const auto shares = shares_of_memory(table, device);
  if (!shares.empty() && quantile(shares, 0.9) > kBeyondAnyCache)
    throw Error(fmt::format("times are more than {:.0f} times as short as the memory of {} allows",
                            kBeyondAnyCache, device.name))
        .of("time_us")
        .advise("Times stand in microseconds.");
}

std::vector<Warning> remarks_on(const MeasuredTable& fitted, const MeasuredTable& judging,
                                const std::vector<Fit>& fits, const DeviceSpec& device) {
  std::vector<Warning> all;
  constexpr double kBelowAnyKernel = 1e-3;  // of the bandwidth of memory, by the best row
  const auto shares = shares_of_memory(fitted, device);
  if (!shares.empty() && *std::max_element(shares.begin(), shares.end()) < kBelowAnyKernel)
    all.push_back({"times-too-long",
                   fmt::format("no row reads even {:g} of the bandwidth of {}: are its times in "
                               "microseconds?",
                               kBelowAnyKernel, device.name)});
  Counts left_out = fitted.left_out_for;
  for (const auto& [why, n] : judging.left_out_for) left_out[why] += n;
  if (!left_out.empty())
    all.push_back({"rows-left-out",
                   fmt::format("{} are of formats, head widths or devices that no law is fitted "
                               "to: {}",
                               rows(sum_of(left_out)), listed(left_out))});
  if (const Counts few = without_fit(fitted.rows, fits); !few.empty())
    all.push_back(
        {"rows-not-fitted", fmt::format("{} of --from are of kinds with fewer than {} rows: {}",
                                        rows(sum_of(few)), kLeastRows, listed(few))});
  if (const Counts idle = without_fit(judging.rows, fits); !idle.empty())
    all.push_back({"rows-not-judged", fmt::format("{} of --holdout judge nothing, for want of a "
                                                  "fit of their kind: {}",
                                                  rows(sum_of(idle)), listed(idle))});
  if (const std::int64_t known = seen(fitted.rows, judging.rows); known > 0)
    all.push_back({"rows-seen", fmt::format("{} of --holdout have shapes that stand in --from too: "
                                            "errors flatter",
                                            rows(known))});
  return all;
}

Error no_fit_of(const MeasuredTable& table) {
  if (table.rows.empty() && table.left_out == 0) return Error("the table has no rows");
  if (table.rows.empty())
    return Error(fmt::format("no row can be fitted: {}", listed(table.left_out_for)))
        .advise("reports/METHOD.md says what is left out.");
  return Error(fmt::format("a fit needs {} rows of a kind; there are {}", kLeastRows,
                           listed(without_fit(table.rows, {}))))
      .advise("Give a table with more shapes.");
}

}  // namespace kvplan
