// SPDX-License-Identifier: Apache-2.0
// One table by RFC 4180, lines ended by LF as Unix tools write them. All columns, also those that
// people do not see; plain numbers; absent is empty.
#include <fmt/format.h>

#include <cmath>

#include "error.h"
#include "report/grid.h"
#include "report/numbers.h"
#include "report/render.h"

namespace kvplan {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string field_of(const Value& value) {
  struct {
    const Value& whole;
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t n) const { return fmt::format("{}", n); }
    std::string operator()(double x) const {
      return std::isfinite(x) ? fmt::format("{}", x) : std::string();
    }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const Array& items) const { return items.empty() ? "" : shown(whole); }
    std::string operator()(const Object& o) const { return o.empty() ? "" : shown(whole); }
  } visitor{value};
  return quoted(std::visit(visitor, value.v));
}

}  // namespace

std::string render_csv(const Document& document, const RenderOptions& options) {
  const std::vector<const Table*> tables = chosen_tables(document, options.part);
  if (tables.empty()) throw Error("there is no table to write as csv").advise("Use --format json.");
  const Table& table = *tables.front();
  std::string out;
  for (const Column& column : table.columns) out += (out.empty() ? "" : ",") + quoted(column.key);
  out += '\n';
  for (const Object* row : rows_of(document, table)) {
    bool first = true;
    for (const Column& column : table.columns) {
      if (!std::exchange(first, false)) out += ',';
      if (const Value* found = find(*row, column.key)) out += field_of(*found);
    }
    out += '\n';
  }
  return out;
}

}  // namespace kvplan
