// SPDX-License-Identifier: Apache-2.0
// For terminals: the answer first, then aligned columns that fit the width.
#include <algorithm>
#include <numeric>
#include <optional>

#include "report/grid.h"
#include "report/render.h"
#include "report/text.h"

namespace kvplan {
namespace {

constexpr std::size_t kGap = 2, kIndent = 2, kLeastText = 12, kLongestWord = 20;
constexpr std::size_t kLongestName = 40;  // in the first column: people copy it
constexpr std::size_t kProse = 100;       // longer lines are hard to read

struct Style {
  bool colour;
  std::string bold(const std::string& s) const { return colour ? "\x1b[1m" + s + "\x1b[0m" : s; }
  std::string dim(const std::string& s) const { return colour ? "\x1b[2m" + s + "\x1b[0m" : s; }
};

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string& word : wrapped(text, 1000)) {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t end = std::min(word.find(' ', at), word.size());
      longest = std::max(longest, display_width(std::string_view(word).substr(at, end - at)));
      at = end + 1;
    }
  }
  return longest;
}

struct Width {
  std::size_t now = 0, least = 0;  // least: titles and words whole, long texts at kLeastText
};

// `longest_name`: how long a word of the first column stays whole.
std::vector<Width> natural_widths(const Grid& g, std::size_t longest_name) {
  std::vector<Width> widths;
  for (std::size_t c = 0; c < g.heads.size(); ++c) {
    std::size_t cells = 0, word = 0;
    for (const auto& row : g.rows) {
      cells = std::max(cells, display_width(row[c]));
      word = std::max(word, longest_word(row[c]));
    }
    const std::string& title = g.heads[c].title;
    const std::size_t least_cells =
        g.heads[c].number || g.headless
            ? cells
            : std::min(cells,
                       std::max(kLeastText, std::min(word, c == 0 ? longest_name : kLongestWord)));
    widths.push_back(
        {std::max(cells, display_width(title)), std::max(least_cells, longest_word(title))});
  }
  if (g.headless) widths[1].least = std::min(widths[1].now, kLeastText);
  return widths;
}

std::size_t total(const std::vector<Width>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kIndent + kGap * (widths.size() - 1),
                         [](std::size_t sum, const Width& w) { return sum + w.now; });
}

// Takes columns away from the widest until the table fits or nothing is left to take.
void shrink(std::vector<Width>& widths, std::size_t room) {
  while (total(widths) > room) {
    const auto widest = std::max_element(widths.begin(), widths.end(), [](auto& a, auto& b) {
      return (a.now > a.least ? a.now : 0) < (b.now > b.least ? b.now : 0);
    });
    if (widest->now <= widest->least) return;
    --widest->now;
  }
}

void drop_column(Grid& g, std::size_t c) {
  const auto at = static_cast<std::ptrdiff_t>(c);
  g.heads.erase(g.heads.begin() + at);
  for (auto& row : g.rows) row.erase(row.begin() + at);
}

// The column to do without first: of the lowest order, the last. None: all must stay.
std::optional<std::size_t> spare_column(const Grid& g) {
  std::optional<std::size_t> found;
  for (std::size_t c = 0; c < g.heads.size(); ++c)
    if (g.heads[c].spare && (!found || g.heads[c].spare <= g.heads[*found].spare)) found = c;
  return found;
}

// Widths that fit; names break, then columns go, where shrinking is not enough.
std::vector<Width> fitted(Grid& g, std::size_t room) {
  for (;;) {
    std::vector<Width> widths;
    for (const std::size_t name : {kLongestName, kLongestWord}) {
      widths = natural_widths(g, name);
      shrink(widths, room);
      if (total(widths) <= room) return widths;
    }
    const auto spare = spare_column(g);
    if (!spare) return widths;
    drop_column(g, *spare);
  }
}

// One row, each cell wrapped in its column; heads stand on the line below, cells start at the top.
std::vector<std::string> lines_of(const std::vector<std::string>& cells, const Grid& g,
                                  const std::vector<Width>& widths, bool bottom) {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    parts.push_back(wrapped(cells[c], widths[c].now));
    height = std::max(height, parts.back().size());
  }
  std::vector<std::string> lines(height, std::string(kIndent, ' '));
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (std::size_t l = 0; l < height; ++l) {
      const std::size_t skip = bottom ? height - parts[c].size() : 0;
      const bool has = l >= skip && l - skip < parts[c].size();
      if (c > 0) lines[l] += std::string(kGap, ' ');
      lines[l] += padded(has ? parts[c][l - skip] : "", widths[c].now, g.heads[c].number);
    }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

std::string rule(const std::vector<Width>& widths) {
  std::string line(kIndent, ' ');
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (c > 0) line += std::string(kGap, ' ');
    for (std::size_t i = 0; i < widths[c].now; ++i) line += "─";
  }
  return line;
}

std::string block(Grid g, std::size_t room, const Style& style) {
  std::string out;
  for (const std::string& line : wrapped(g.title, room))
    if (!line.empty()) out += style.bold(line) + "\n";
  const std::vector<Width> widths = fitted(g, room);
  if (!g.headless) {
    std::vector<std::string> titles;
    for (const Grid::Head& head : g.heads) titles.push_back(head.title);
    for (const std::string& line : lines_of(titles, g, widths, true)) out += style.dim(line) + "\n";
    out += style.dim(rule(widths)) + "\n";
  }
  for (const auto& row : g.rows)
    for (const std::string& line : lines_of(row, g, widths, false)) out += line + "\n";
  for (const std::string& note : g.notes)
    for (const std::string& line : wrapped(note, std::min(room, kProse) - kIndent))
      out += style.dim(std::string(kIndent, ' ') + line) + "\n";
  return out;
}

}  // namespace

std::string render_table(const Document& document, const RenderOptions& options) {
  const auto room = static_cast<std::size_t>(std::max(options.width, 40));
  const Style style{options.colour};
  std::vector<std::string> blocks;
  const auto paragraph = [&](const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& sentence : sentences)
      for (const std::string& line : wrapped(clean(sentence), std::min(room, kProse)))
        text += line + "\n";
    if (!text.empty()) blocks.push_back(std::move(text));
  };
  if (options.part.empty()) paragraph(document.lead);
  std::string kept_back;
  for (const Table* table : chosen_tables(document, options.part)) {
    std::optional<Grid> g = grid(document, *table);
    if (!g) continue;
    if (table->detail && !options.details && options.part.empty())
      kept_back += (kept_back.empty() ? "" : ", ") + table->part;
    else
      blocks.push_back(block(std::move(*g), room, style));
  }
  if (options.part.empty()) paragraph(document.closing);
  if (!kept_back.empty()) paragraph({"Also there, with --details or --part: " + kept_back + "."});
  std::string out;
  for (const std::string& text : blocks) out += (out.empty() ? "" : "\n") + text;
  return out;
}

}  // namespace kvplan
