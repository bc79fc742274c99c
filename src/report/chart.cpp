// SPDX-License-Identifier: Apache-2.0
#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/grid.h"
#include "report/html.h"
#include "report/numbers.h"

namespace kvplan {
namespace {

constexpr double kWidth = 760, kHeight = 300, kLeft = 76, kRight = 150, kTop = 26, kBottom = 44;

struct Point {
  double x, y;
};
struct Line {
  std::string name;
  std::vector<Point> points;
};

std::optional<double> number(const Object& row, const std::string& key) {
  const Value* v = find(row, key);
  if (!v) return std::nullopt;
  if (const auto* n = std::get_if<std::int64_t>(&v->v)) return static_cast<double>(*n);
  const auto* x = std::get_if<double>(&v->v);
  return x && std::isfinite(*x) ? std::optional(*x) : std::nullopt;
}

std::vector<Line> lines_of(const std::vector<const Object*>& rows, const Chart& chart) {
  std::vector<Line> lines;
  for (const Object* row : rows) {
    const std::optional<double> x = number(*row, chart.x), y = number(*row, chart.y);
    if (!x || !y) continue;
    const Value* series = chart.series.empty() ? nullptr : find(*row, chart.series);
    const std::string name = series ? shown(*series) : std::string();
    auto line = std::find_if(lines.begin(), lines.end(), [&](auto& l) { return l.name == name; });
    if (line == lines.end()) line = lines.insert(line, Line{name, {}});
    line->points.push_back({*x, *y});
  }
  return lines;
}

// Maps values to 0..1 and finds round values to mark.
class Axis {
 public:
  Axis(const std::vector<double>& values, Show show) : show_(show) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    log_ = *low > 0 && *high > 8 * *low;
    low_ = log_ ? *low : std::min(*low, 0.0);
    high_ = *high > low_ ? *high : low_ + 1;
    binary_ = show == Show::bytes || std::all_of(values.begin(), values.end(), [](double v) {
                return v > 0 && std::exp2(std::round(std::log2(v))) == v;
              });
  }

  double at(double v) const {
    return log_ ? std::log(v / low_) / std::log(high_ / low_) : (v - low_) / (high_ - low_);
  }
  std::string label(double v) const { return shown(v, show_); }
  std::string mark(double v) const {  // a round value
    return shown(v, show_ == Show::tokens_per_second ? Show::count : show_);
  }

  std::vector<double> ticks() const {
    std::vector<double> marks;
    if (!log_) {
      for (double v = std::ceil(low_ / step()) * step(); v <= high_ * 1.0001; v += step())
        marks.push_back(v);
      return marks;
    }
    const double base = binary_ ? 2 : 10;
    const int first = static_cast<int>(std::floor(std::log(low_) / std::log(base)));
    const int last = static_cast<int>(std::ceil(std::log(high_) / std::log(base)));
    const int every = 1 + (last - first) / 8;
    for (int power = first; power <= last; power += every)
      for (const double part : {1.0, 2.0, 5.0}) {
        const double v = part * std::pow(base, power);
        if ((part == 1 || (!binary_ && last - first <= 3)) && v >= low_ * 0.999 &&
            v <= high_ * 1.001)
          marks.push_back(v);
      }
    return marks;
  }

 private:
  double step() const {  // of about five marks: 1, 2 or 5 times a power of ten, or a power of two
    const double rough = (high_ - low_) / 5;
    if (binary_) return std::exp2(std::ceil(std::log2(rough)));
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double part : {1.0, 2.0, 5.0})
      if (part * power >= rough) return part * power;
    return 10 * power;
  }

  Show show_;
  bool log_ = false, binary_ = false;
  double low_ = 0, high_ = 1;
};

double across(const Axis& axis, double x) { return kLeft + axis.at(x) * (kWidth - kLeft - kRight); }
double down(const Axis& axis, double y) {
  return kHeight - kBottom - axis.at(y) * (kHeight - kTop - kBottom);
}

std::string frame(const Axis& x, const Axis& y, const std::string& x_title,
                  const std::string& y_title) {
  std::string svg;
  for (const double v : y.ticks())
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        kLeft, kWidth - kRight, down(y, v), down(y, v), kLeft - 8, down(y, v) + 4,
        html_escaped(y.mark(v)));
  for (const double v : x.ticks())
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       across(x, v), kHeight - kBottom + 18, html_escaped(x.mark(v)));
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"axis\">{}</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 6, html_escaped(x_title));
  svg += fmt::format("<text x=\"{:.1f}\" y=\"12\" class=\"axis\">{}</text>\n", 8.0,
                     html_escaped(y_title));
  return svg;
}

std::string drawn(const std::vector<Line>& lines, const Axis& x, const Axis& y,
                  const std::string& series) {
  std::string svg;
  std::vector<std::pair<double, std::size_t>> ends;  // where each line's name would like to stand
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string path;
    for (const Point& p : lines[i].points)
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", across(x, p.x), down(y, p.y));
    svg += fmt::format("<g class=\"s{}\"><polyline points=\"{}\"/>", i % 6, path);
    for (const Point& p : lines[i].points)
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {}</title></circle>",
          across(x, p.x), down(y, p.y), html_escaped(x.label(p.x)), html_escaped(y.label(p.y)));
    svg += "</g>\n";
    ends.emplace_back(down(y, lines[i].points.back().y), i);
  }
  std::sort(ends.begin(), ends.end());
  double last = -1e9;
  for (const auto& [wish, i] : ends) {
    last = std::max(wish, last + 15);
    const std::string name = series.empty() ? lines[i].name : series + " " + lines[i].name;
    svg += fmt::format("<text class=\"t{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", i % 6,
                       kWidth - kRight + 10, last + 4, html_escaped(name));
  }
  return svg;
}

}  // namespace

std::string chart_svg(const Document& document, const Table& table, const Chart& chart) {
  const std::vector<const Object*> rows = rows_of(document, table);
  const std::vector<Line> lines = lines_of(rows, chart);
  std::vector<double> xs, ys;
  for (const Line& line : lines)
    for (const Point& p : line.points) xs.push_back(p.x), ys.push_back(p.y);
  if (xs.size() < 2) return {};
  const auto show_of = [&](const std::string& key) {
    const Value* v = find(*rows.front(), key);
    return v ? v->show : Show::plain;
  };
  const auto title_of = [&](const std::string& key) {
    for (const Column& column : table.columns)
      if (column.key == key) return column.title;
    return key;
  };
  const Axis x(xs, show_of(chart.x)), y(ys, show_of(chart.y));
  const std::string series = chart.series.empty() ? "" : title_of(chart.series);
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} by {}\">\n", kWidth,
                     kHeight, html_escaped(title_of(chart.y)), html_escaped(title_of(chart.x))) +
         frame(x, y, title_of(chart.x), title_of(chart.y)) + drawn(lines, x, y, series) +
         "</svg>\n";
}

}  // namespace kvplan
