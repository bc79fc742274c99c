// SPDX-License-Identifier: Apache-2.0
// An answer, described once and rendered in any format.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kvplan {

// How a number is shown to a person (report/numbers.h); JSON and csv always have the plain number.
enum class Show {
  plain,
  bytes,
  tokens,
  count,
  flops,
  rate_bytes,
  rate_flops,
  seconds,
  tokens_per_second,
  percent,
  ratio,
  usd
};

struct Value;
struct Member;
using Object = std::vector<Member>;  // in order
using Array = std::vector<Value>;
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object>
      v;  // monostate: absent → null
  Show show = Show::plain;
};
struct Member {
  Member(std::string_view k, Value v) : key(k), value(std::move(v)) {}
  std::string key;
  Value value;
};

// A table for people and for csv: columns of a path into the rows. Where the part is one object
// and not a list of rows, people see a list of titles and values.
struct Column {
  std::string title;             // "KV cache"; empty: for csv only
  std::string key;               // "bytes", "ceiling.tokens_per_second"
  bool always = true;            // false: left out when every row has the same value or none
  std::string unless_same = {};  // key of another column: left out when every row has its value
  bool where_known = false;      // with `always` false: left out when no row has a value
  int spare = 0;  // where a terminal is too narrow, columns of 1 go first, then 2, …; 0 stays
  std::string low = {}, high = {};  // keys of an interval's ends, which people see beside it
};
// What html draws above a table: y over x, one line for each value of `series` (may be empty).
struct Chart {
  std::string x, y, series;  // keys of columns
};
struct Table {
  std::string part;  // path of its rows in the document: "kv.rows"; also the name for --part
  std::string title;
  std::vector<Column> columns;
  std::vector<std::string> notes = {};  // below the table
  std::optional<Chart> chart = {};
  bool detail = false;  // a terminal shows it on demand alone
};
struct Document {
  std::string command;
  Object body;                    // the stable JSON layout, after schema/command/version
  std::vector<std::string> lead;  // sentences above the tables: the answer first
  std::vector<Table> tables;
  std::vector<std::string> closing;
  std::string title;  // of an html page or markdown text: "Llama 3.1 8B on RTX 4090"
};

enum class OutputFormat { table, json, csv, markdown, html };
struct RenderOptions {
  int width = 100;
  bool colour = false;
  std::string part;      // which table; empty: csv has the first, the others all
  bool details = false;  // in a terminal also the tables that are details
};
// Throws Error only where `part` names no table.
std::string render(const Document&, OutputFormat, const RenderOptions& = {});

}  // namespace kvplan
