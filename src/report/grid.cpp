// SPDX-License-Identifier: Apache-2.0
#include "report/grid.h"

#include <algorithm>

#include "error.h"
#include "report/numbers.h"
#include "report/text.h"

namespace kvplan {
namespace {

bool is_number(const Value& v) {
  return std::holds_alternative<std::int64_t>(v.v) || std::holds_alternative<double>(v.v);
}
bool is_absent(const Value& v) { return std::holds_alternative<std::monostate>(v.v); }

const Value kNothing;

const Value& cell(const Object& row, const Column& column) {
  const Value* found = find(row, column.key);
  return found ? *found : kNothing;
}

bool repeats(const Object& row, const Column& column) {
  const Value* other = column.unless_same.empty() ? nullptr : find(row, column.unless_same);
  return other && shown(*other) == shown(cell(row, column));
}

// Columns that people see: with a title, not absent everywhere, and varying where they must.
std::vector<const Column*> visible(const Table& table, const std::vector<const Object*>& rows) {
  std::vector<const Column*> columns;
  for (const Column& column : table.columns) {
    if (column.title.empty()) continue;
    bool any = false, varies = false, same = true;
    for (const Object* row : rows) {
      any = any || !is_absent(cell(*row, column));
      varies = varies || shown(cell(*row, column)) != shown(cell(*rows.front(), column));
      same = same && repeats(*row, column);
    }
    if (!same && (column.always || (any && (varies || column.where_known))))
      columns.push_back(&column);
  }
  return columns;
}

// A value, and the interval that it lies in where one is known.
std::string text_of(const Object& row, const Column& column) {
  const std::string text = shown(cell(row, column));
  const Value* low = column.low.empty() ? nullptr : find(row, column.low);
  const Value* high = column.high.empty() ? nullptr : find(row, column.high);
  if (!low || !high || is_absent(*low) || is_absent(*high)) return text;
  return text + " (" + shown(*low) + "–" + shown(*high) + ")";
}

Grid upright(const std::vector<const Object*>& rows, const std::vector<const Column*>& columns) {
  Grid g;
  for (const Column* column : columns) {
    bool number = false, word = false;
    for (const Object* row : rows) {
      const Value& v = cell(*row, *column);
      number = number || is_number(v);
      word = word || (!is_number(v) && !is_absent(v));
    }
    g.heads.push_back({clean(column->title), number && !word,
                       column->spare || column->always || column->where_known ? column->spare : 1});
  }
  for (const Object* row : rows) {
    std::vector<std::string>& cells = g.rows.emplace_back();
    for (const Column* column : columns) cells.push_back(text_of(*row, *column));
  }
  return g;
}

// Absent, zero, false or no text: what a list of facts leaves out unless it always has it.
bool is_nothing(const Value& v) {
  const auto* n = std::get_if<std::int64_t>(&v.v);
  const auto* x = std::get_if<double>(&v.v);
  const auto* b = std::get_if<bool>(&v.v);
  const auto* s = std::get_if<std::string>(&v.v);
  return is_absent(v) || (n && *n == 0) || (x && *x == 0) || (b && !*b) || (s && s->empty());
}

// One object: a line for each field.
Grid facts(const Object& row, const Table& table) {
  Grid g;
  g.headless = true;
  g.heads = {{}, {}};
  for (const Column& column : table.columns)
    if (!column.title.empty() && !repeats(row, column) &&
        (column.always || !is_nothing(cell(row, column))))
      g.rows.push_back({clean(column.title), text_of(row, column)});
  return g;
}

}  // namespace

const Value* find(const Object& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  for (const auto& [key, value] : object) {
    if (key == path) return &value;
    if (dot == std::string_view::npos || key != path.substr(0, dot)) continue;
    const Object* inner = std::get_if<Object>(&value.v);
    return inner ? find(*inner, path.substr(dot + 1)) : nullptr;
  }
  return nullptr;
}

std::vector<const Object*> rows_of(const Document& document, const Table& table) {
  std::vector<const Object*> rows;
  const Value* found = find(document.body, table.part);
  if (!found) return rows;
  if (const Object* one = std::get_if<Object>(&found->v)) rows.push_back(one);
  if (const Array* items = std::get_if<Array>(&found->v))
    for (const Value& item : *items)
      if (const Object* row = std::get_if<Object>(&item.v)) rows.push_back(row);
  return rows;
}

std::vector<const Table*> chosen_tables(const Document& document, std::string_view part) {
  std::vector<const Table*> chosen;
  std::string parts;
  for (const Table& table : document.tables) {
    if (part.empty() || table.part == part) chosen.push_back(&table);
    parts += (parts.empty() ? "" : ", ") + table.part;
  }
  if (chosen.empty() && !part.empty())
    throw Error("has no table \"" + clean(part) + "\"")
        .of("--part")
        .advise(parts.empty() ? "This answer has no tables." : "Tables here: " + parts + ".");
  return chosen;
}

std::optional<Grid> grid(const Document& document, const Table& table) {
  const std::vector<const Object*> rows = rows_of(document, table);
  if (rows.empty()) return std::nullopt;
  const Value* found = find(document.body, table.part);
  const bool one = std::holds_alternative<Object>(found->v);
  Grid g = one ? facts(*rows.front(), table) : upright(rows, visible(table, rows));
  if (g.heads.empty() || g.rows.empty()) return std::nullopt;
  g.title = clean(table.title);
  for (const std::string& note : table.notes) g.notes.push_back(clean(note));
  return g;
}

}  // namespace kvplan
