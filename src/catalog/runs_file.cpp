// SPDX-License-Identifier: Apache-2.0
#include "catalog/runs_file.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "catalog/fields.h"
#include "catalog/quoted.h"

namespace kvplan {
namespace {

constexpr std::array<const char*, 2> kPhases = {"decode", "prefill"};
constexpr const char* kWhat = "a file of runs";

const Node& required(const Node& map, std::string_view key) {
  if (const Node* node = map.find(key)) return *node;
  throw Error("a file of runs needs this").of(std::string(key)).at_line(map.line);
}

const std::vector<Node>& list_of(const Node& map, std::string_view key) {
  const Node& node = required(map, key);
  if (node.kind != Node::list)
    throw Error("expected a list").of(std::string(key)).at_line(node.line);
  return node.items;
}

double number(const Node& node, double least, double most) {
  const auto value = node.number();
  if (!value || !(*value >= least && *value <= most))
    throw Error(fmt::format("expected a number from {} to {}", least, most)).at_line(node.line);
  return *value;
}

std::int64_t count(const Node& map, std::string_view key) {
  const auto value = required(map, key).integer();
  if (!value || *value < 0) throw Error("expected a count").of(std::string(key)).at_line(map.line);
  return *value;
}

RunLaw law_in(const Node& map) {
  RunLaw law;
  RunLaw::each(law, [&](const char* name, double& value, double least, double most) {
    value = number(required(map, name), least, most);
  });
  return law;
}

// [factor, runs]
PublishedRuns::Offset offset_in(const Node& pair) {
  if (pair.kind != Node::list || pair.items.size() != 2)
    throw Error("expected a factor and a number of runs").at_line(pair.line);
  const auto runs = pair.items[1].integer();
  return {number(pair.items[0], 0.02, 50), runs.value_or(0)};
}

std::vector<PublishedRuns::Group> groups_in(const Node& file, std::string_view key) {
  std::vector<PublishedRuns::Group> groups;
  for (const Node& item : list_of(file, key)) {
    allow_only(item, {"name", "decode", "prefill"}, kWhat);
    PublishedRuns::Group group{text_in(item, "name"), {}};
    for (std::size_t p = 0; p < kPhases.size(); ++p)
      if (const Node* pair = item.find(kPhases[p])) group.offsets[p] = offset_in(*pair);
    groups.push_back(std::move(group));
  }
  return groups;
}

PublishedRuns::Width width_in(const Node& map) {
  allow_only(map,
             {"phase", "vendor", "own", "experts", "low", "high", "runs", "median_ape", "p90_ape",
              "coverage"},
             kWhat);
  PublishedRuns::Width width;
  width.phase = text_in(map, "phase") == kPhases[0] ? Phase::decode : Phase::prefill;
  width.vendor = text_in(map, "vendor");
  width.own = required(map, "own").boolean().value_or(false);
  width.experts = required(map, "experts").boolean().value_or(false);
  width.low = number(required(map, "low"), 0.01, 1);
  width.high = number(required(map, "high"), 1, 100);
  width.runs = count(map, "runs");
  width.median_ape = number(required(map, "median_ape"), 0, 100);
  width.p90_ape = number(required(map, "p90_ape"), 0, 100);
  width.coverage = number(required(map, "coverage"), 0, 1);
  return width;
}

std::string group_lines(const std::vector<PublishedRuns::Group>& groups) {
  std::string out;
  for (const auto& group : groups) {
    out += fmt::format("  - {{name: {}", in_quotes(group.name));
    for (std::size_t p = 0; p < kPhases.size(); ++p)
      if (const auto& o = group.offsets[p])
        out += fmt::format(", {}: [{:.3f}, {}]", kPhases[p], o->factor, o->runs);
    out += "}\n";
  }
  return out;
}

}  // namespace

PublishedRuns read_runs(const Node& file) {
  allow_only(file,
             {"name", "origin", "date", "nominal_coverage", "longest_context", "shortest_prompt",
              "longest_prompt", "formats", "vendors", "architectures", "devices", "widths"},
             kWhat);
  PublishedRuns runs;
  runs.engine = text_in(file, "name");
  runs.origin = text_in(file, "origin");
  runs.date = text_in(file, "date");
  runs.nominal = number(required(file, "nominal_coverage"), 0, 1);
  runs.longest_context = Tokens(count(file, "longest_context"));
  runs.shortest_prompt = Tokens(count(file, "shortest_prompt"));
  runs.longest_prompt = Tokens(count(file, "longest_prompt"));
  runs.formats = texts_in(file, "formats");
  for (const Node& vendor : list_of(file, "vendors"))
    runs.vendors.push_back({text_in(vendor, "name"), law_in(vendor)});
  runs.families = groups_in(file, "architectures");
  runs.devices = groups_in(file, "devices");
  for (const Node& width : list_of(file, "widths")) runs.widths.push_back(width_in(width));
  return runs;
}

std::string runs_text(const PublishedRuns& runs) {
  std::string out = fmt::format(
      "# SPDX-License-Identifier: Apache-2.0\nname: {}\norigin: {}\ndate: {}\nnominal_coverage: "
      "{}\nlongest_context: {}\n"
      "shortest_prompt: {}\nlongest_prompt: {}\nformats: [{}]\n\n"
      "# Shares of the datasheet's bandwidth and peak, and seconds of a launch.\nvendors:\n",
      runs.engine, in_quotes(runs.origin), in_quotes(runs.date), runs.nominal,
      runs.longest_context.n, runs.shortest_prompt.n, runs.longest_prompt.n,
      fmt::join(runs.formats, ", "));
  for (const auto& vendor : runs.vendors) {
    out += fmt::format("  - name: {}\n", vendor.name);
    RunLaw::each(vendor.law, [&](const char* name, double value, double, double) {
      out += fmt::format("    {}: {:.3g}\n", name, value);
    });
  }
  out +=
      "\n# Measured time / the law's, and runs that it rests on.\narchitectures:\n" +
      group_lines(runs.families) + "\n# Likewise / that of the architecture.\ndevices:\n" +
      group_lines(runs.devices) +
      "\n# Quantiles of measured / predicted of runs that were left out: with all others of the\n"
      "# same model on the device (own), or with all of the device.\nwidths:\n";
  for (const auto& w : runs.widths)
    out += fmt::format(
        "  - {{phase: {}, vendor: {}, own: {}, experts: {}, low: {:.3f}, high: {:.3f}, runs: {}, "
        "median_ape: {:.3f}, p90_ape: {:.3f}, coverage: {:.2f}}}\n",
        kPhases[static_cast<std::size_t>(w.phase)], in_quotes(w.vendor), w.own, w.experts, w.low,
        w.high, w.runs, w.median_ape, w.p90_ape, w.coverage);
  return out;
}

}  // namespace kvplan
