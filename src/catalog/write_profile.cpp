// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "catalog/profile_file.h"
#include "catalog/quoted.h"
#include "cost/columns.h"

namespace kvplan {
namespace {

void add(std::string& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out += fmt::format("{}: {}\n", key, in_quotes(text));
}

void add_quality(std::string& out, std::string_view key, const std::optional<Quality>& quality) {
  if (!quality) return;
  out += fmt::format("    {}: {{samples: {}, median_ape: {}, p90_ape: {}, coverage: {}}}\n", key,
                     quality->samples, quality->median_ape, quality->p90_ape, quality->coverage);
}

std::string constants(const OperatorLaw& any) {
  std::string out;
  std::visit(
      [&](const auto& law) {
        law.each(law, [&](const char* name, double value, double, double) {
          out += fmt::format("      {}: {}\n", name, value);
        });
      },
      any);
  return out;
}

// One line an axis: what was measured, and how the interval widens with each octave beyond it.
void add_edges(std::string& out, const std::vector<Edge>& edges) {
  if (!edges.empty()) out += "    edges:\n";
  for (const Edge& e : edges)
    out += fmt::format("      - {{least: {}, most: {}, below: [{}, {}], above: [{}, {}]}}\n",
                       e.least, e.most, e.below.low, e.below.high, e.above.low, e.above.high);
}

// One line of numbers for each m and n.
void add_correction(std::string& out, const Correction& correction) {
  const auto& [m, n, k] = correction.lattice.axes;
  out += fmt::format(
      "    correction:\n      first_power: [{}, {}, {}]\n      powers: [{}, {}, {}]\n"
      "      per_mille:\n",
      m.first, n.first, k.first, m.count, n.count, k.count);
  const auto line = static_cast<std::size_t>(k.count);
  for (std::size_t i = 0; i < correction.per_mille.size(); ++i)
    out += fmt::format("{}{}{}", i % line ? " " : "        - \"", correction.per_mille[i],
                       (i + 1) % line ? "" : "\"\n");
}

void add_fit(std::string& out, const Fit& fit) {
  out += fmt::format("  - class: {}\n", name_of(fit.op));
  if (!fit.format.empty()) out += fmt::format("    format: {}\n", fit.format);
  if (!fit.variant.empty()) out += fmt::format("    variant: {}\n", in_quotes(fit.variant));
  out += fmt::format("    samples: {}\n    nominal_coverage: {}\n", fit.samples, fit.nominal);
  add_quality(out, "left_out", fit.left_out);
  add_quality(out, "holdout", fit.holdout);
  out += "    bands:\n";
  for (const Band& band : fit.bands)
    out += fmt::format("      - {{up_to_seconds: {}, low: {}, high: {}}}\n", band.up_to.v, band.low,
                       band.high);
  add_edges(out, fit.edges);
  out += "    law:\n" + constants(fit.law);
  if (fit.correction) add_correction(out, *fit.correction);
}

void add_measured(std::string& out, const Measured& row) {
  out += "  - {";
  for (const auto& [column, cell] : cells_of(row.shape))
    out += fmt::format("{}: {}, ", column, cell);
  if (!row.variant.empty()) out += fmt::format("variant: {}, ", in_quotes(row.variant));
  out += fmt::format("seconds: {}", row.time.v);
  if (!row.samples.empty()) {
    out += ", samples: [";
    for (std::size_t i = 0; i < row.samples.size(); ++i)
      out += fmt::format("{}{}", i ? ", " : "", row.samples[i].v);
    out += ']';
  }
  out += "}\n";
}

template <class Quantity>
void add_quantity(std::string& out, std::string_view key, const std::optional<Quantity>& quantity) {
  if (quantity) out += fmt::format("{}: {}\n", key, quantity->v);
}

}  // namespace

std::string profile_text(const Profile& profile) {
  std::string out =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Written by `kv-plan calibrate`; reports/METHOD.md says how.\n"
      "profile_version: 1\n";
  add(out, "name", profile.device);
  add(out, "title", profile.title);
  add(out, "machine", profile.machine);
  add(out, "origin", profile.origin);
  add(out, "licence", profile.licence);
  add(out, "date", profile.date);
  add(out, "written_by", profile.written_by);
  add_quantity(out, "stream_read_bytes_per_second", profile.stream_read);
  add_quantity(out, "stream_copy_bytes_per_second", profile.stream_copy);
  add_quantity(out, "launch_seconds", profile.launch);
  out += profile.fits.empty() ? "fits: []\n" : "fits:\n";
  for (const Fit& fit : profile.fits) add_fit(out, fit);
  if (!profile.measured.empty()) out += "measured:\n";
  for (const Measured& row : profile.measured) add_measured(out, row);
  return out;
}

}  // namespace kvplan
