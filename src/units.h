// SPDX-License-Identifier: Apache-2.0
// Quantities are types: bytes cannot be added to tokens, and a sum that does not fit is an error,
// never a wrap. Capacity is printed in GiB (2^30), rates in GB/s (10^9).
#pragma once
#include <compare>
#include <cstdint>

#include "error.h"

namespace kvplan {

// a + b, a - b, a * b on 64-bit integers; throw Error when the exact result does not fit.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw Error("a count does not fit in 64 bits");
  return r;
}
inline std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) throw Error("a count does not fit in 64 bits");
  return r;
}
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw Error("a count does not fit in 64 bits");
  return r;
}

// a * b * c / d, exact in 128 bits, floored; a, b, c >= 0, d > 0.
inline std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t d) {
  const __int128 r = static_cast<__int128>(a) * b / d;
  if (r > INT64_MAX) throw Error("a count does not fit in 64 bits");
  return static_cast<std::int64_t>(r);
}

// Smallest integer >= a / b; a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }
// Smallest multiple of b that is >= a; a >= 0, b > 0.
inline std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return checked_mul(ceil_div(a, b), b);
}

// An exact integer quantity. `U` is an empty tag that makes it a type of its own.
template <class U>
struct Count {
  std::int64_t n = 0;

  constexpr Count() = default;
  constexpr explicit Count(std::int64_t value) : n(value) {}
  constexpr double real() const { return static_cast<double>(n); }

  friend Count operator+(Count a, Count b) { return Count(checked_add(a.n, b.n)); }
  friend Count operator-(Count a, Count b) { return Count(checked_sub(a.n, b.n)); }
  friend Count operator*(Count a, std::int64_t k) { return Count(checked_mul(a.n, k)); }
  friend Count operator*(std::int64_t k, Count a) { return a * k; }
  // Whole times that b fits into a.
  friend constexpr std::int64_t operator/(Count a, Count b) { return a.n / b.n; }
  Count& operator+=(Count b) { return *this = *this + b; }
  Count& operator-=(Count b) { return *this = *this - b; }
  friend constexpr auto operator<=>(Count, Count) = default;
};

// A physical quantity.
template <class U>
struct Real {
  double v = 0;

  constexpr Real() = default;
  constexpr explicit Real(double value) : v(value) {}

  friend constexpr Real operator+(Real a, Real b) { return Real(a.v + b.v); }
  friend constexpr Real operator-(Real a, Real b) { return Real(a.v - b.v); }
  friend constexpr Real operator*(Real a, double k) { return Real(a.v * k); }
  friend constexpr Real operator*(double k, Real a) { return a * k; }
  friend constexpr Real operator/(Real a, double k) { return Real(a.v / k); }
  friend constexpr double operator/(Real a, Real b) { return a.v / b.v; }
  Real& operator+=(Real b) { return *this = *this + b; }
  friend constexpr auto operator<=>(Real, Real) = default;
};

struct BytesUnit {};
struct TokensUnit {};
struct SecondsUnit {};
struct FlopsUnit {};
struct BytesPerSecondUnit {};
struct FlopsPerSecondUnit {};
struct HertzUnit {};

using Bytes = Count<BytesUnit>;
using Tokens = Count<TokensUnit>;
using Seconds = Real<SecondsUnit>;
using Flops = Real<FlopsUnit>;  // operations; a multiply-add is two
using BytesPerSecond = Real<BytesPerSecondUnit>;
using FlopsPerSecond = Real<FlopsPerSecondUnit>;
using Hertz = Real<HertzUnit>;

constexpr Seconds operator/(Bytes b, BytesPerSecond r) { return Seconds(b.real() / r.v); }
constexpr Seconds operator/(Flops f, FlopsPerSecond r) { return Seconds(f.v / r.v); }
constexpr BytesPerSecond operator/(Bytes b, Seconds t) { return BytesPerSecond(b.real() / t.v); }
constexpr FlopsPerSecond operator/(Flops f, Seconds t) { return FlopsPerSecond(f.v / t.v); }

constexpr std::int64_t kKiB = std::int64_t{1} << 10;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

}  // namespace kvplan
