// SPDX-License-Identifier: Apache-2.0
#include "calibrate/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>

namespace kvplan {
namespace {

std::vector<std::string> split(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells;
  std::size_t at = 0;
  for (;;) {
    const auto comma = line.find(',', at);
    cells.push_back(line.substr(at, comma - at));
    if (comma == std::string::npos) return cells;
    at = comma + 1;
  }
}

class Row {
 public:
  Row(const std::map<std::string, std::size_t>& columns, std::vector<std::string> cells)
      : columns_(columns), cells_(std::move(cells)) {
    if (cells_.size() != columns_.size())
      throw Error("a row has " + std::to_string(cells_.size()) + " cells where the header has " +
                  std::to_string(columns_.size()));
  }
  bool has(const std::string& column) const { return columns_.contains(column); }
  const std::string& text(const std::string& column) const { return cells_[columns_.at(column)]; }
  std::int64_t count(const std::string& column, std::int64_t least = 1) const {
    const std::string& cell = text(column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (error != std::errc() || end != cell.data() + cell.size() || value < least || value > kMost)
      throw Error("'" + cell + "' is not a count of at least " + std::to_string(least)).of(column);
    return value;
  }
  Seconds time() const {
    const std::string& cell = text("time_us");
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0) ||
        !std::isfinite(value))
      throw Error("'" + cell + "' is not a time").of("time_us");
    return Seconds(value * 1e-6);
  }
  // nullptr: a format that has no law (fp8_block rows hold another kernel).
  const Format* format(const std::string& column) const {
    const std::string& name = text(column);
    if (name == "half" || name == "float16") return &format_named("fp16");
    if (name == "bfloat16") return &format_named("bf16");
    return name == "fp8_block" ? nullptr : find_format(name);
  }

 private:
  const std::map<std::string, std::size_t>& columns_;
  std::vector<std::string> cells_;
};

constexpr std::int64_t kWidestHead = 256;  // 512 runs in other kernels

std::optional<Shape> gemm(const Row& row) {
  const Format* format = row.format("dtype");
  if (!format) return std::nullopt;
  return GemmShape{row.count("m"), row.count("n"), row.count("k"), format};
}

std::optional<Shape> decode(const Row& row) {
  const Format* format = row.format("kv_dtype");
  const std::int64_t heads = row.count("heads"), kv_heads = row.count("kv_heads"),
                     width = row.count("head_dim");
  if (!format || width > kWidestHead) return std::nullopt;
  return DecodeAttentionShape{row.count("batch"),  heads,  kv_heads, width, width,
                              row.count("kv_len"), format, format};
}

std::optional<Shape> prefill(const Row& row) {
  const Format* format = row.format("kv_dtype");
  const std::int64_t width = row.count("head_dim");
  if (!format || width > kWidestHead) return std::nullopt;
  return PrefillAttentionShape{row.count("batch"),
                               row.count("heads"),
                               row.count("kv_heads"),
                               width,
                               width,
                               row.count("q_len"),
                               row.count("past_len", 0),
                               format};
}

std::optional<Shape> latent(const Row& row) {
  const Format* format = row.format("kv_dtype");
  if (!format) return std::nullopt;
  LatentDecodeShape shape;
  shape.batch = row.count("batch");
  shape.heads = row.count("heads");
  shape.context = row.count("kv_len");
  shape.latent_format = shape.rope_format = format;
  return shape;
}

std::optional<Shape> moe(const Row& row) {
  const Format* format = row.format("dtype");
  if (!format) return std::nullopt;
  return MoeShape{row.count("tokens"),  row.count("hidden"), row.count("inter"), row.count("topk"),
                  row.count("experts"), row.count("tp"),     row.count("ep"),    format};
}

std::optional<CollectiveShape::Kind> kind_named(const std::string& name) {
  for (const auto kind : {CollectiveShape::all_reduce, CollectiveShape::all_gather,
                          CollectiveShape::reduce_scatter, CollectiveShape::all_to_all})
    if (name == name_of(kind)) return kind;
  if (name == "alltoall") return CollectiveShape::all_to_all;
  return std::nullopt;
}

std::optional<Shape> collective(const Row& row) {
  const auto kind = kind_named(row.text("op"));
  if (!kind || row.count("n_gpus") < 2) return std::nullopt;
  return CollectiveShape{*kind, row.count("n_gpus"), Bytes(row.count("bytes"))};
}

// In this order: a table of more columns before one whose columns it contains.
struct Kind {
  std::vector<std::string> columns;
  std::optional<Shape> (*read)(const Row&);
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds{
      {{"m", "n", "k", "dtype"}, gemm},
      {{"heads", "kv_heads", "head_dim", "kv_dtype", "batch", "q_len", "past_len"}, prefill},
      {{"heads", "kv_heads", "head_dim", "kv_dtype", "batch", "kv_len"}, decode},
      {{"heads", "kv_dtype", "batch", "kv_len"}, latent},
      {{"dtype", "tokens", "hidden", "inter", "topk", "experts", "tp", "ep"}, moe},
      {{"op", "n_gpus", "bytes"}, collective},
  };
  return kKinds;
}

const Kind& kind_of(const std::map<std::string, std::size_t>& columns) {
  for (const Kind& kind : kinds())
    if (columns.contains("time_us") &&
        std::all_of(kind.columns.begin(), kind.columns.end(),
                    [&](const std::string& c) { return columns.contains(c); }))
      return kind;
  throw Error("the columns of this table belong to no operator")
      .at_line(1)
      .advise("Name the columns as reports/METHOD.md lists them, times in time_us.");
}

// Whose row it is: a collective runs in a library, a table may hold several devices.
bool of_device(const Row& row, const std::string& device) {
  return !row.has("gpu") || device.empty() || device.find(row.text("gpu")) != std::string::npos;
}
std::string variant_of(const Row& row) {
  if (!row.has("op") || row.has("m")) return {};
  const auto kind = kind_named(row.text("op"));
  if (!kind) return {};
  return std::string(name_of(*kind)) + (row.has("backend") ? " " + row.text("backend") : "");
}

}  // namespace

MeasuredTable read_measured(std::istream& in, const std::string& file, const std::string& device) {
  MeasuredTable table;
  int number = 1;
  try {
    std::string line;
    if (!std::getline(in, line)) throw Error("the table is empty");
    if (line.starts_with("\x1f\x8b"))
      throw Error("the table is compressed").advise("Unpack it with gunzip.");
    std::map<std::string, std::size_t> columns;
    for (std::string& name : split(line)) columns.emplace(name, columns.size());
    const Kind& kind = kind_of(columns);
    while (++number, std::getline(in, line)) {
      if (line.empty()) continue;
      const Row row(columns, split(line));
      const auto shape = of_device(row, device) ? kind.read(row) : std::nullopt;
      if (shape)
        table.rows.push_back({*shape, row.time(), variant_of(row)});
      else
        ++table.left_out;
    }
  } catch (Error& error) {
    throw error.in(file).at_line(number);
  }
  return table;
}

MeasuredTable read_measured(const std::string& file, const std::string& device) {
  std::ifstream in(file);
  if (!in) throw Error("cannot read the file").in(file);
  return read_measured(in, file, device);
}

}  // namespace kvplan
