// SPDX-License-Identifier: Apache-2.0
// GitHub's markdown: pipes aligned in the source, too.
#include <algorithm>
#include <cctype>

#include "report/grid.h"
#include "report/render.h"
#include "report/text.h"

namespace kvplan {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Text of unknown origin must not become markup: a pipe would end a cell, < would start html. An
// underscore within a word (q4_k_m) is literal as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside =
        i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    const bool markup = std::string_view("\\`*_[]<|").find(text[i]) != std::string_view::npos;
    if (markup && !(text[i] == '_' && inside)) out += '\\';
    out += text[i];
  }
  return out;
}

std::string line_of(const std::vector<std::string>& cells, const Grid& g,
                    const std::vector<std::size_t>& widths) {
  std::string line = "|";
  for (std::size_t c = 0; c < cells.size(); ++c)
    line += " " + padded(cells[c], widths[c], g.heads[c].number) + " |";
  return line + "\n";
}

std::string pipes(const Grid& g) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Grid::Head& head : g.heads) lines[0].push_back(escaped(head.title));
  for (const auto& row : g.rows) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (const std::string& text : row) cells.push_back(escaped(text));
  }
  std::vector<std::size_t> widths(g.heads.size(), 3);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c)
      widths[c] = std::max(widths[c], display_width(line[c]));
  std::string out = line_of(lines[0], g, widths) + "|";
  for (std::size_t c = 0; c < widths.size(); ++c)
    out += (g.heads[c].number ? " " + std::string(widths[c] - 1, '-') + ": |"
                              : " " + std::string(widths[c], '-') + " |");
  out += "\n";
  for (std::size_t l = 1; l < lines.size(); ++l) out += line_of(lines[l], g, widths);
  return out;
}

}  // namespace

std::string render_markdown(const Document& document, const RenderOptions& options) {
  std::vector<std::string> blocks;
  const bool whole = options.part.empty();
  if (whole && !document.title.empty())
    blocks.push_back("# " + escaped(clean(document.title)) + "\n");
  if (whole)
    for (const std::string& sentence : document.lead)
      blocks.push_back(escaped(clean(sentence)) + "\n");
  for (const Table* table : chosen_tables(document, options.part)) {
    const std::optional<Grid> g = grid(document, *table);
    if (!g) continue;
    if (!g->title.empty()) blocks.push_back("## " + escaped(g->title) + "\n");
    blocks.push_back(pipes(*g));
    for (const std::string& note : g->notes) blocks.push_back(escaped(note) + "\n");
  }
  if (whole)
    for (const std::string& sentence : document.closing)
      blocks.push_back(escaped(clean(sentence)) + "\n");
  std::string out;
  for (const std::string& text : blocks) out += (out.empty() ? "" : "\n") + text;
  return out;
}

}  // namespace kvplan
