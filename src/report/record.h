// SPDX-License-Identifier: Apache-2.0
// A record is described once, field by field; JSON, csv and tables all come from the description.
//   template <> inline constexpr auto description<Row> = std::tuple{
//       field("bytes", &Row::bytes, "reserved"), field("share", &Row::share).as(Show::percent)};
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "report/value.h"

namespace kvplan {

template <class Get>
struct Field {
  std::string_view key;    // in JSON
  Get get;                 // member pointer, or a function of the record
  std::string_view title;  // over a column; empty: not shown in tables
  std::optional<Show> show = {};
  bool always = true;
  std::string_view unless_same = {};
  bool known = false;
  int spare = 0;
  std::string_view low = {}, high = {};

  constexpr Field as(Show s) const {
    return with([&](Field& f) { f.show = s; });
  }
  // A column that is left out when all rows agree.
  constexpr Field where_it_varies() const {
    return with([](Field& f) { f.always = f.known = false; });
  }
  // A column that is left out when no row has a value.
  constexpr Field where_known() const {
    return with([](Field& f) { f.always = false, f.known = true; });
  }
  // A column that is left out when it says what another one says.
  constexpr Field unless_same_as(std::string_view other) const {
    return with([&](Field& f) { f.unless_same = other; });
  }
  // A column that goes where the terminal is too narrow: those of 1 first.
  constexpr Field sparing(int order) const {
    return with([&](Field& f) { f.spare = order; });
  }
  // An estimate that people see with its interval: "84.2 (66.9–145)".
  constexpr Field between(std::string_view from, std::string_view to) const {
    return with([&](Field& f) { f.low = from, f.high = to; });
  }

 private:
  template <class Change>
  constexpr Field with(Change change) const {
    Field f = *this;
    change(f);
    return f;
  }
};

template <class Get>
constexpr Field<Get> field(std::string_view key, Get get, std::string_view title = {}) {
  return {key, get, title};
}

template <Described T>
Object object(const T& record) {
  Object members;
  const auto add = [&](const auto& f) {
    Value v = value(std::invoke(f.get, record));
    if (f.show) v = shown_as(std::move(v), *f.show);
    members.emplace_back(f.key, std::move(v));
  };
  std::apply([&](const auto&... fields) { (add(fields), ...); }, description<T>);
  return members;
}

template <Described T>
Value value(const T& record) {
  return {object(record)};
}

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

// A column for each field, nested records' fields included: "ceiling.tokens_per_second". Lists have
// none.
template <Described T>
std::vector<Column> columns(const Column& outer = {}) {
  std::vector<Column> all;
  const auto join = [](const std::string& a, std::string_view b, const char* between) {
    return a.empty() || b.empty() ? a + std::string(b) : a + between + std::string(b);
  };
  const auto add = [&]<class Get>(const Field<Get>& f) {
    using Result = std::remove_cvref_t<std::invoke_result_t<const Get&, const T&>>;
    using Inner = typename Unwrapped<Result>::Type;
    const auto sibling = [&](std::string_view key) {
      return key.empty() ? std::string() : join(outer.key, key, ".");
    };
    Column column{join(outer.title, f.title, " "),
                  join(outer.key, f.key, "."),
                  outer.always && f.always,
                  sibling(f.unless_same),
                  outer.where_known || f.known,
                  outer.spare ? outer.spare : f.spare,
                  sibling(f.low),
                  sibling(f.high)};
    if constexpr (Described<Inner>) {
      for (Column& c : columns<Inner>(column)) all.push_back(std::move(c));
    } else if constexpr (!is_list<Inner>) {
      if (f.title.empty()) column.title.clear();
      all.push_back(std::move(column));
    }
  };
  std::apply([&](const auto&... fields) { (add(fields), ...); }, description<T>);
  return all;
}

// A table of rows of type T that lie at `part` in the document.
template <Described T>
Table table(std::string part, std::string title) {
  return {std::move(part), std::move(title), columns<T>(), {}, {}};
}

}  // namespace kvplan
