// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/numbers.h"
#include "kernels/problem.h"

using namespace kvplan;

TEST_CASE("attention over equal keys is the mean of the values") {
  const std::vector<double> query{1, 2};
  const auto key = [](std::int64_t, std::span<double> row) {
    std::fill(row.begin(), row.end(), 3);
  };
  const auto value = [](std::int64_t t, std::span<double> row) { row[0] = static_cast<double>(t); };
  std::vector<Answer> answers(1);
  attend(query, 5, key, value, answers);
  CHECK(answers[0].value == doctest::Approx(2));  // (0 + 1 + 2 + 3 + 4) / 5
}

TEST_CASE("attention weights are the softmax of scaled products") {
  // Scores q·k/√1 = 0 and ln 3: weights 1/4 and 3/4.
  const auto key = [](std::int64_t t, std::span<double> row) {
    row[0] = t == 0 ? 0 : std::log(3.0);
  };
  const auto value = [](std::int64_t t, std::span<double> row) { row[0] = t == 0 ? 8 : 4; };
  std::vector<Answer> answers(1);
  const std::vector<double> query{1};
  attend(query, 2, key, value, answers);
  CHECK(answers[0].value == doctest::Approx(8.0 / 4 + 4.0 * 3 / 4));
}

TEST_CASE("int4 groups hold numbers j and 64 + j in one byte, with one fp16 scale") {
  std::array<std::byte, 128> payload{};
  payload.fill(std::byte{0x88});       // all zero
  payload[1] = std::byte{0xf0};        // group 0: number 1 is -8, number 65 is 7
  payload[64 + 63] = std::byte{0x98};  // group 1: number 128 + 127 is 1
  const std::array<std::uint16_t, 2> scales{to_fp16(0.5f), to_fp16(-2.0f)};
  std::vector<double> row(256);
  decode_row(format_named("int4-g128"), payload.data(),
             reinterpret_cast<const std::byte*>(scales.data()), row);
  CHECK(row[0] == 0);
  CHECK(row[1] == -4);
  CHECK(row[65] == 3.5);
  CHECK(row[255] == -2);
}

TEST_CASE("rows in ggml's blocks are what llama.cpp makes of the same bytes") {
  // dequantize_row_* of llama.cpp (llama-cpp-python 0.3.7, February 2025) of these bytes: the sum
  // of 768 numbers, their sum weighted by (i + 1) / 768, and number 700.
  struct Row {
    const char* format;
    double sum, weighted, number_700;
  };
  for (const Row& known : {Row{"q8_0", 1027.095703, 691.105799, 79.218750},
                           Row{"q4_0", 9.073730, -24.433967, 1.425781},
                           Row{"q4_k", -108720.699707, -13243.947896, 244.352539},
                           Row{"q5_k", -79929.042480, -54406.704849, -626.202148},
                           Row{"q6_k", -22486.433105, 9576.723120, -567.000000},
                           Row{"q2_k", -12568.501953, -8141.827503, -23.607422},
                           Row{"q3_k", 1160.587402, 1000.641974, -83.583984}}) {
    CAPTURE(known.format);
    const Format& format = format_named(known.format);
    std::vector<double> row(768);
    std::vector<std::byte> bytes(static_cast<std::size_t>(payload_bytes(format, 1, 768).n));
    fill_with_any_format(bytes, 77);
    decode_row(format, bytes.data(), nullptr, row);
    double sum = 0, weighted = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      sum += row[i];
      weighted += row[i] * static_cast<double>(i + 1) / 768;
    }
    CHECK(sum == doctest::Approx(known.sum).epsilon(1e-6));
    CHECK(weighted == doctest::Approx(known.weighted).epsilon(1e-6));
    CHECK(row[700] == doctest::Approx(known.number_700).epsilon(1e-6));
  }
}

TEST_CASE("an error is measured against the sum of magnitudes, and NaN is never right") {
  const Answer cancelled{0, 100};
  CHECK(error_of(0.05, cancelled, 1e-3) == doctest::Approx(0.5));
  CHECK(error_of(std::nan(""), cancelled, 1e-3) > 1e300);
}

TEST_CASE("words of any format are finite in each of them") {
  std::vector<std::byte> bytes(1 << 16);
  fill_with_any_format(bytes, 3);
  for (const char* name : {"fp32", "bf16", "fp16", "fp8", "int8"}) {
    const Format& format = format_named(name);
    std::vector<double> row(bytes.size() / static_cast<std::size_t>(format.block_bytes));
    decode_row(format, bytes.data(), nullptr, row);
    CAPTURE(name);
    CHECK(std::all_of(row.begin(), row.end(), [](double x) { return std::abs(x) <= 448; }));
    CHECK(std::count(row.begin(), row.end(), row[0]) <
          static_cast<std::ptrdiff_t>(row.size()) / 16);
  }
}

TEST_CASE("peaky inputs have a few numbers that are far larger than most") {
  std::vector<float> numbers;
  for (std::uint64_t i = 0; i < 4096; ++i) numbers.push_back(std::abs(peaky(5, i)));
  std::sort(numbers.begin(), numbers.end());
  CHECK(numbers.back() > 0.9f);
  CHECK(numbers[2048] < 0.2f);
}
