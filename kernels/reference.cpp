// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/numbers.h"

namespace kvplan {
namespace {

template <class T>
T load(const std::byte* from, std::size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

double int4_at(const std::byte* payload, std::size_t i) {
  const auto byte = std::to_integer<unsigned>(payload[i / 128 * 64 + i % 64]);
  return static_cast<double>(i % 128 < 64 ? byte & 15u : byte >> 4) - 8;
}

}  // namespace

void decode_row(const Format& format, const std::byte* payload, const std::byte* scales,
                std::span<double> out) {
  const std::string_view name = format.name;
  const auto each = [&](auto number) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = number(i);
  };
  if (name == "fp32") return each([&](std::size_t i) { return load<float>(payload, i); });
  if (name == "bf16")
    return each([&](std::size_t i) { return from_bf16(load<std::uint16_t>(payload, i)); });
  if (name == "fp16")
    return each([&](std::size_t i) { return from_fp16(load<std::uint16_t>(payload, i)); });
  if (name == "fp8")
    return each([&](std::size_t i) { return from_fp8(load<std::uint8_t>(payload, i)); });
  if (name == "int8") return each([&](std::size_t i) { return load<std::int8_t>(payload, i); });
  if (name == "int8-channel" || name == "int8-head") {
    const double scale = load<float>(scales, 0);
    return each([&](std::size_t i) { return scale * load<std::int8_t>(payload, i); });
  }
  if (name == "int4-g128")
    return each([&](std::size_t i) {
      return int4_at(payload, i) * from_fp16(load<std::uint16_t>(scales, i / 128));
    });
  if (decode_blocks(format, payload, out)) return;
  throw Error("no kernel reads '" + std::string(name) + "'");
}

Answer dot(std::span<const double> a, std::span<const double> b) {
  Answer sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum.value += a[i] * b[i];
    sum.magnitude += std::abs(a[i] * b[i]);
  }
  return sum;
}

void attend(std::span<const double> query, std::int64_t tokens, const RowReader& key,
            const RowReader& value, std::span<Answer> answers) {
  std::vector<double> weights(static_cast<std::size_t>(tokens)), row(query.size());
  double highest = -std::numeric_limits<double>::infinity();
  for (std::int64_t t = 0; t < tokens; ++t) {
    key(t, row);
    const double score = dot(query, row).value / std::sqrt(static_cast<double>(query.size()));
    weights[static_cast<std::size_t>(t)] = score;
    highest = std::max(highest, score);
  }
  double sum = 0;
  for (double& w : weights) sum += w = std::exp(w - highest);
  std::fill(answers.begin(), answers.end(), Answer{});
  row.resize(answers.size());
  for (std::int64_t t = 0; t < tokens; ++t) {
    value(t, row);
    const double weight = weights[static_cast<std::size_t>(t)] / sum;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i].value += weight * row[i];
      answers[i].magnitude += weight * std::abs(row[i]);
    }
  }
}

double error_of(double computed, const Answer& answer, double relative) {
  const double off = std::abs(computed - answer.value);
  if (!std::isfinite(off)) return std::numeric_limits<double>::infinity();
  const double allowed = relative * answer.magnitude + std::numeric_limits<float>::min();
  return off / allowed;
}

}  // namespace kvplan
