// SPDX-License-Identifier: Apache-2.0
// C++ values → Value, each type with the way it is shown.
#pragma once
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "report/document.h"
#include "units.h"

namespace kvplan {

// How a record is described: a tuple of fields (report/record.h). Others are not described.
template <class T>
inline constexpr auto description = std::tuple<>();
template <class T>
concept Described = std::tuple_size_v<std::remove_cvref_t<decltype(description<T>)>> >
0;
template <Described T>
Value value(const T& record);  // an Object

inline Value value(Value v) { return v; }
inline Value value(Object o) { return {std::move(o)}; }
inline Value value(Array a) { return {std::move(a)}; }
inline Value value(std::nullopt_t) { return {}; }

template <std::same_as<bool> T>
Value value(T b) {
  return {b};
}
template <std::integral T>
requires(!std::same_as<T, bool>) Value value(T n, Show show = Show::count) {
  return {static_cast<std::int64_t>(n), show};
}
inline Value value(double x, Show show = Show::plain) { return {x, show}; }

// The same value, shown in another way. A whole number of bytes becomes an integer: only compressed
// caches have fractions per token.
Value shown_as(Value, Show);

inline Value value(std::string s) { return {std::move(s)}; }
inline Value value(std::string_view s) { return {std::string(s)}; }
inline Value value(const char* s) { return {std::string(s)}; }

inline Value value(Bytes b) { return {b.n, Show::bytes}; }
inline Value value(Tokens t) { return {t.n, Show::tokens}; }
inline Value value(Seconds t) { return {t.v, Show::seconds}; }
inline Value value(Flops f) { return {f.v, Show::flops}; }
inline Value value(BytesPerSecond r) { return {r.v, Show::rate_bytes}; }
inline Value value(FlopsPerSecond r) { return {r.v, Show::rate_flops}; }

template <class T, class... Shown>
Value value(const std::optional<T>& maybe, Shown... show) {
  return maybe ? value(*maybe, show...) : Value{};
}

template <class T>
Value value(std::span<const T> items) {
  Array array;
  array.reserve(items.size());
  for (const T& item : items) array.push_back(value(item));
  return {std::move(array)};
}
template <class T>
requires(!std::same_as<T, Value> && !std::same_as<T, Member>) Value
    value(const std::vector<T>& items) {
  return value(std::span<const T>(items));
}

}  // namespace kvplan
