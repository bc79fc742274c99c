// SPDX-License-Identifier: Apache-2.0
#include "calibrate/csv.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "calibrate/text_file.h"
#include "cost/columns.h"

namespace kvplan {
namespace {

// Without the line's end; empty at the end of the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void split(std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.emplace_back(line.substr(0, comma));
    if (comma == line.npos) return;
    line.remove_prefix(comma + 1);
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// What a table that has no time_us calls its times, perhaps in another unit; empty: nothing.
std::string column_of_times(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const std::string_view word : {"time", "latency", "duration", "seconds"})
      if (lower(name).find(word) != std::string::npos) return name.substr(0, 40);
  return "";
}

class Row {
 public:
  explicit Row(std::string_view header) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (header.starts_with(kByteOrderMark)) header.remove_prefix(kByteOrderMark.size());
    std::vector<std::string> names;
    split(header, names);
    for (const std::string& name : names)
      if (!columns_.emplace(name, columns_.size()).second)
        throw Error("two columns have this name").of(name.substr(0, 40));
    require_operator();
    if (!column("time_us"))
      throw Error("times are read from the column time_us, in microseconds, which is missing")
          .of(column_of_times(names));
  }

  void read(std::string_view line) {
    split(line, cells_);
    if (cells_.size() != columns_.size())
      throw Error("a row has " + std::to_string(cells_.size()) + " cells where the header has " +
                  std::to_string(columns_.size()));
  }
  const std::string* at(std::string_view name) const {
    const std::size_t* place = column(name);
    return place ? &cells_[*place] : nullptr;
  }
  Seconds time() const {
    const std::string& cell = *at("time_us");
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0) || !(value < 1e15))
      throw Error("'" + cell.substr(0, 40) + "' is not a time").of("time_us");
    return Seconds(value * 1e-6);
  }
  bool is_of(std::string_view device) const {
    const std::string* gpu = at("gpu");
    return !gpu || device.empty() || device.find(lower(*gpu)) != device.npos;
  }

 private:
  static inline const std::string kAny;

  void require_operator() const {
    const CellAt at = [this](std::string_view c) { return column(c) ? &kAny : nullptr; };
    if (describes_shape(at)) return;
    std::string missing;
    for (const std::string_view name : missing_columns(at))
      missing += (missing.empty() ? "" : ", ") + std::string(name);
    throw Error(missing.empty() ? "the columns of this table belong to no operator"
                                : "columns are missing that say what was measured: " + missing)
        .advise("reports/METHOD.md lists the columns of each; times stand in time_us.");
  }
  const std::size_t* column(std::string_view name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() ? nullptr : &found->second;
  }

  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> cells_;
};

// Collectives differ by what they do and by the library that does it, experts by how evenly they
// are chosen, recurrences by their
// kind, sparse attention by its cache.
std::string variant_of(const Shape& shape, const Row& row) {
  if (const auto* collective = std::get_if<CollectiveShape>(&shape)) {
    const std::string* library = row.at("backend");
    return std::string(name_of(collective->kind)) + (library ? " " + *library : "");
  }
  if (const auto* recurrence = std::get_if<RecurrenceShape>(&shape))
    return std::string(name_of(recurrence->kind));
  if (const auto* sparse = std::get_if<SparseLatentShape>(&shape))
    return std::string(cache_of(*sparse));
  const std::string* choice = row.at("distribution");
  return choice && std::holds_alternative<MoeShape>(shape) ? *choice : "";
}

}  // namespace

MeasuredTable read_measured(std::string_view text, std::string_view device) {
  MeasuredTable table;
  int line = 1;
  try {
    if (text.empty()) throw Error("the table is empty");
    Row row(take_line(text));
    const CellAt at = [&row](std::string_view column) { return row.at(column); };
    while (!text.empty()) {
      ++line;
      const std::string_view content = take_line(text);
      if (content.empty()) continue;
      row.read(content);
      const bool of_device = row.is_of(device);
      const auto shape = of_device ? shape_from(at) : std::nullopt;
      if (shape) {
        table.rows.push_back({*shape, row.time(), variant_of(*shape, row), {}});
        continue;
      }
      ++table.left_out;
      ++table.left_out_for[of_device ? left_out_for(at) : "gpu " + row.at("gpu")->substr(0, 40)];
    }
  } catch (Error& error) {
    throw error.at_line(line);
  }
  return table;
}

MeasuredTable read_measured_file(const std::string& path, std::string_view device) {
  try {
    return read_measured(read_maybe_compressed(path), device);
  } catch (Error& error) {
    throw error.in(path);
  }
}

}  // namespace kvplan
