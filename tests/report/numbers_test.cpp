// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace kvplan;

namespace {
std::string bytes(std::int64_t n) { return shown(n, Show::bytes); }
constexpr std::int64_t kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi;
}  // namespace

TEST_CASE("bytes are shown in the largest unit of 1024 with three or four digits") {
  CHECK(bytes(0) == "0 B");
  CHECK(bytes(40) == "40 B");
  CHECK(bytes(1023) == "1,023 B");
  CHECK(bytes(69120) == "67.5 KiB");  // 60 layers of MLA, 576 numbers in 16 bits
  CHECK(bytes(128 * kKi) == "128 KiB");
  CHECK(bytes(512 * kMi) == "512 MiB");
  CHECK(bytes(kGi) == "1.00 GiB");
  CHECK(bytes(16 * kGi) == "16.0 GiB");
  CHECK(bytes(1152) == "1.125 KiB");       // 576 numbers in 16 bits: exact
  CHECK(bytes(9210558054) == "8.58 GiB");  // 8.578 is not exact
  CHECK(bytes(627572736) == "598.5 MiB");
  CHECK(bytes(16060522496) == "14.96 GiB");
  CHECK(bytes(2 * kGi * kKi) == "2.00 TiB");
}

TEST_CASE("a value that rounds up to the next unit is shown in it") {
  CHECK(bytes(kGi - 1) == "1.00 GiB");
  CHECK(bytes(kKi * kGi - 1) == "1.00 TiB");
  CHECK(bytes(1000 * kMi) == "1,000 MiB");
}

TEST_CASE("missing memory is negative") {
  CHECK(bytes(-3 * kGi) == "-3.00 GiB");
  CHECK(bytes(-5) == "-5 B");
}

TEST_CASE("fractions of a byte per token are kept") {
  CHECK(shown(562.5, Show::bytes) == "562.5 B");
  CHECK(shown(48068.0, Show::bytes) == "46.94 KiB");
}

TEST_CASE("rates are decimal") {
  CHECK(shown(3.35e12, Show::rate_bytes) == "3.35 TB/s");
  CHECK(shown(1.008e12, Show::rate_bytes) == "1.008 TB/s");
  CHECK(shown(900e9, Show::rate_bytes) == "900 GB/s");
  CHECK(shown(989.4e12, Show::rate_flops) == "989.4 TFLOP/s");
  CHECK(shown(1979e12, Show::rate_flops) == "1,979 TFLOP/s");
  CHECK(shown(10.7e9, Show::flops) == "10.7 GFLOP");
}

TEST_CASE("times choose their unit") {
  CHECK(shown(4.9e-3, Show::seconds) == "4.90 ms");
  CHECK(shown(312e-6, Show::seconds) == "312 µs");
  CHECK(shown(1.234, Show::seconds) == "1.23 s");
  CHECK(shown(0.9999, Show::seconds) == "1.00 s");
  CHECK(shown(185.0, Show::seconds) == "3.08 min");
  CHECK(shown(0.0, Show::seconds) == "0 s");
}

TEST_CASE("tokens and counts are exact with separators") {
  CHECK(shown(std::int64_t{32768}, Show::tokens) == "32,768");
  CHECK(shown(std::int64_t{6738415616}, Show::count) == "6,738,415,616");
  CHECK(shown(std::int64_t{999}, Show::count) == "999");
  CHECK(shown(std::int64_t{-1234}, Show::count) == "-1,234");
  CHECK(shown(std::numeric_limits<std::int64_t>::min(), Show::count) ==
        "-9,223,372,036,854,775,808");
}

TEST_CASE("a year has no separator") { CHECK(shown(std::int64_t{2024}, Show::plain) == "2024"); }

TEST_CASE("token rates keep about three digits") {
  CHECK(shown(186.24, Show::tokens_per_second) == "186.2");
  CHECK(shown(27.31, Show::tokens_per_second) == "27.3");
  CHECK(shown(7.5, Show::tokens_per_second) == "7.50");
  CHECK(shown(0.8249, Show::tokens_per_second) == "0.825");
  CHECK(shown(12345.6, Show::tokens_per_second) == "12,346");
}

TEST_CASE("percents, ratios and prices") {
  CHECK(shown(0.9, Show::percent) == "90%");
  CHECK(shown(0.1428, Show::percent) == "14.3%");
  CHECK(shown(0.0004, Show::percent) == "0%");
  CHECK(shown(1.0 / 3, Show::ratio) == "×0.333");
  CHECK(shown(8.0, Show::ratio) == "×8");
  CHECK(shown(2.49, Show::usd) == "$2.49");
  CHECK(shown(0.1, Show::usd) == "$0.100");
  CHECK(shown(1234.0, Show::usd) == "$1,234");
}

TEST_CASE("what is absent or not finite is shown as absent, never as zero") {
  CHECK(shown(Value{}) == "–");
  CHECK(shown(std::nan(""), Show::seconds) == "–");
  CHECK(shown(std::numeric_limits<double>::infinity(), Show::bytes) == "–");
  CHECK(shown(Value{std::string()}) == "–");
}

TEST_CASE("words, truths and lists read as a person writes them") {
  CHECK(shown(Value{true}) == "yes");
  CHECK(shown(Value{Array{{std::string("a")}, {std::string("b")}}}) == "a, b");
  CHECK(shown(Value{std::string("a\x1b[31mb\xff")}) == "a [31mb\xEF\xBF\xBD");
}
