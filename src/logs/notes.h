// SPDX-License-Identifier: Apache-2.0
// What tables do with the parts of a line: each function notes one capture in the record.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/flags.h"
#include "logs/tables.h"

namespace kvplan::logs {

std::optional<std::int64_t> whole(std::string_view);  // "178,880"
std::optional<double> real(std::string_view);
std::int64_t unit_named(std::string_view);  // bytes of "GiB"; 0 when unknown
// `decimals`: how many the engine rounds to where it drops trailing zeros.
std::optional<Printed<Bytes>> size(std::string_view number, std::int64_t unit, int decimals,
                                   std::int64_t line);

template <class T>
void see(std::optional<Printed<T>>& field, const Printed<T>& printed) {
  if (!field) {
    field = printed;
    field->times = 1;
    return;
  }
  field->least = std::min(field->least, printed.least);
  field->most = std::max(field->most, printed.most);
  field->half = std::max(field->half, printed.half);
  ++field->times;
}

// A record of a further start, where the one before came to an end.
void begin(StartLog&);
void put_version(StartLog&, std::string_view);
void put_model(StartLog&, std::string_view);
void put_device(StartLog&, std::string_view name);
// A flag of the engine; what leaves it to the engine (None, auto) is not noted.
void put(StartLog&, std::string_view key, std::string_view value);
// Of the flags that were noted, those that the engine has; values that are not followed apart.
void keep_followed(StartLog&, const EngineFlags&);
void refuse(StartLog&, const Found&, Refusal);  // the same refusal of several ranks once
// One more part of a sum.
void add(std::optional<Printed<Bytes>>& sum, const Printed<Bytes>&);
void add(std::map<std::string, Printed<Bytes>>& buffers, std::string_view device,
         const Printed<Bytes>&);
void replace(std::map<std::string, Printed<Bytes>>& buffers, std::string_view device,
             const Printed<Bytes>&);

// ---- notes of one capture

// A name as a template argument.
struct Key {
  char text[48] = {};
  template <std::size_t n>
  constexpr Key(const char (&literal)[n]) {  // NOLINT: meant to convert
    static_assert(n <= sizeof text);
    std::copy_n(literal, n, text);
  }
};

inline void skip(StartLog&, const Found&, std::size_t) {}
template <auto member, std::int64_t unit, int decimals = 0>
void bytes(StartLog& log, const Found& f, std::size_t i) {
  if (const auto printed = size(f[i], unit, decimals, f.number)) see(log.*member, *printed);
}
template <auto member>
void count(StartLog& log, const Found& f, std::size_t i) {
  if (const auto n = whole(f[i])) see(log.*member, {*n, *n, 0, f.number, 1});
}
template <auto member, int decimals>
void ratio(StartLog& log, const Found& f, std::size_t i) {
  constexpr double kHalf = decimals == 1 ? 0.05 : decimals == 2 ? 0.005 : 0.00005;
  if (const auto x = real(f[i])) see(log.*member, {*x, *x, kHalf, f.number, 1});
}
template <Key key>
void set(StartLog& log, const Found& f, std::size_t i) {
  put(log, key.text, f[i]);
}
inline void version(StartLog& log, const Found& f, std::size_t i) { put_version(log, f[i]); }
inline void model(StartLog& log, const Found& f, std::size_t i) { put_model(log, f[i]); }
inline void device(StartLog& log, const Found& f, std::size_t i) { put_device(log, f[i]); }

// ---- notes of a line

// One note for each capture, in order.
template <auto... notes>
void each(StartLog& log, const Found& f) {
  std::size_t i = 0;
  (notes(log, f, i++), ...);
}
// Every row that fits the text, not only the first.
inline void all_of(std::span<const Row> rows, StartLog& log, std::string_view text,
                   std::int64_t line) {
  for (const Row& row : rows)
    if (const auto captures = match(text, row.pattern)) row.note(log, {text, line, *captures});
}
// A flag that the line's mere presence gives.
template <Key key, Key value>
void given(StartLog& log, const Found&) {
  put(log, key.text, value.text);
}
template <Refusal::Cause cause>
void refused(StartLog& log, const Found& f) {
  Refusal refusal;
  refusal.cause = cause;
  refuse(log, f, std::move(refusal));
}

}  // namespace kvplan::logs
