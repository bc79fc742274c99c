// SPDX-License-Identifier: Apache-2.0
// One page that needs nothing else: no script, no font, no network; light, dark and on paper.
#include <fmt/format.h>

#include <algorithm>

#include "report/chart.h"
#include "report/grid.h"
#include "report/html.h"
#include "report/render.h"
#include "report/text.h"
#include "report/version.h"

namespace kvplan {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #646a73; --line: #e3e5e8; --page: #fff;
  --card: #f6f7f9; --accent: #0b62d6; --c0: #0b62d6; --c1: #d9480f; --c2: #2b8a3e; --c3: #862e9c;
  --c4: #b08900; --c5: #0c8599; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa1ab; --line: #2d3138;
  --page: #14161a; --card: #1c1f25; --accent: #6ea8fe; --c0: #6ea8fe; --c1: #ff922b; --c2: #69db7c;
  --c3: #da77f2; --c4: #fcc419; --c5: #3bc9db; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .6rem; }
.lead { background: var(--card); border-left: 3px solid var(--accent); border-radius: 4px;
  padding: .8rem 1.1rem; }
.lead p { margin: .25rem 0; }
.lead p:first-child { font-size: 1.1rem; font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; text-align: left; vertical-align: bottom; }
th, td { padding: .32rem .9rem .32rem 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; }
.n { text-align: right; }
.n, .k { white-space: nowrap; }
.facts td:first-child { color: var(--soft); white-space: nowrap; padding-right: 1.6rem; }
.note, footer { color: var(--soft); font-size: .85rem; }
.note { margin: .5rem 0 0; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; }
svg { width: 100%; min-width: 32rem; max-width: 47.5rem; height: auto; margin: .2rem 0 .8rem; display: block;
  font-size: 12px; fill: var(--soft); }
svg .grid { stroke: var(--line); }
svg .axis { font-weight: 600; }
svg polyline { fill: none; stroke: currentColor; stroke-width: 2; }
svg circle { fill: currentColor; }
.s0 { color: var(--c0); } .s1 { color: var(--c1); } .s2 { color: var(--c2); }
.s3 { color: var(--c3); } .s4 { color: var(--c4); } .s5 { color: var(--c5); }
svg .t0 { fill: var(--c0); } svg .t1 { fill: var(--c1); } svg .t2 { fill: var(--c2); }
svg .t3 { fill: var(--c3); } svg .t4 { fill: var(--c4); } svg .t5 { fill: var(--c5); }
@media print { body { max-width: none; padding: 0; font-size: 11pt; }
  tr, svg, .lead { break-inside: avoid; } h2 { break-after: avoid; } .wide { overflow: visible; } }
)";

// Numbers align to the right; columns of short texts keep each on one line.
std::vector<std::string_view> classes_of(const Grid& g) {
  constexpr std::size_t kShort = 28;
  std::vector<std::string_view> classes;
  for (std::size_t c = 0; c < g.heads.size(); ++c) {
    const bool brief = std::all_of(g.rows.begin(), g.rows.end(), [&](const auto& row) {
      return display_width(row[c]) <= kShort;
    });
    classes.push_back(g.heads[c].number ? " class=\"n\"" : brief ? " class=\"k\"" : "");
  }
  return classes;
}

std::string table_html(const Grid& g) {
  const std::vector<std::string_view> classes = classes_of(g);
  const auto cell = [&](std::string_view tag, std::size_t c, const std::string& text) {
    return fmt::format("<{0}{1}>{2}</{0}>", tag, classes[c], html_escaped(text));
  };
  std::string out =
      fmt::format("<div class=\"wide\"><table{}>\n", g.headless ? " class=\"facts\"" : "");
  if (!g.headless) {
    out += "<thead><tr>";
    for (std::size_t c = 0; c < g.heads.size(); ++c) out += cell("th", c, g.heads[c].title);
    out += "</tr></thead>\n";
  }
  out += "<tbody>\n";
  for (const auto& row : g.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) out += cell("td", c, row[c]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string section(const Document& document, const Table& table, const Grid& g) {
  std::string out = "<section>\n";
  if (!g.title.empty()) out += fmt::format("<h2>{}</h2>\n", html_escaped(g.title));
  if (table.chart)
    out += "<div class=\"wide\">" + chart_svg(document, table, *table.chart) + "</div>\n";
  out += table_html(g);
  for (const std::string& note : g.notes)
    out += fmt::format("<p class=\"note\">{}</p>\n", html_escaped(note));
  return out + "</section>\n";
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string render_html(const Document& document, const RenderOptions& options) {
  const std::string title =
      html_escaped(document.title.empty() ? "kv-plan " + document.command : document.title);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      title, kStyle, title);
  if (!document.lead.empty()) {
    out += "<div class=\"lead\">\n";
    for (const std::string& sentence : document.lead)
      out += fmt::format("<p>{}</p>\n", html_escaped(sentence));
    out += "</div>\n";
  }
  for (const Table* table : chosen_tables(document, options.part))
    if (const std::optional<Grid> g = grid(document, *table)) out += section(document, *table, *g);
  for (const std::string& sentence : document.closing)
    out += fmt::format("<p>{}</p>\n", html_escaped(sentence));
  out += fmt::format("<footer>kv-plan {} · {}</footer>\n</body>\n</html>\n", version(),
                     html_escaped(document.command));
  return out;
}

}  // namespace kvplan
