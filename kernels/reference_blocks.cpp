// SPDX-License-Identifier: Apache-2.0
// Rows in the formats of ggml's blocks, number by number, after the block structs and
// dequantize_row_* of ggml-common.h and ggml-quants.c.
#include <algorithm>
#include <array>

#include "kernels/numbers.h"
#include "kernels/reference.h"

namespace kvplan {
namespace {

unsigned at(const std::byte* from, std::size_t i) { return std::to_integer<unsigned>(from[i]); }
double half(const std::byte* from) {
  return from_fp16(static_cast<std::uint16_t>(at(from, 0) | at(from, 1) << 8));
}
double whole(unsigned byte) { return static_cast<std::int8_t>(byte); }
// Four bits of numbers i and `apart` + i of a byte.
unsigned nibble(const std::byte* from, std::size_t i, std::size_t apart) {
  return at(from, i / (2 * apart) * apart + i % apart) >> 4 * (i / apart % 2) & 15;
}

double q8_0(const std::byte* b, std::size_t i) { return half(b) * whole(at(b + 2, i)); }
double q4_0(const std::byte* b, std::size_t i) {
  return half(b) * (static_cast<double>(nibble(b + 2, i, 16)) - 8);
}

// The scale (0) or minimum (1) of six bits for numbers [32 j, 32 j + 32).
double six_bits(const std::byte* s, std::size_t j, std::size_t which) {
  if (j < 4) return at(s, j + 4 * which) & 63;
  return (at(s, j + 4) >> 4 * which & 15) | at(s, j - 4 + 4 * which) >> 6 << 4;
}
double with_minimum(const std::byte* b, std::size_t i, unsigned code) {
  return half(b) * six_bits(b + 4, i / 32, 0) * code - half(b + 2) * six_bits(b + 4, i / 32, 1);
}
double q4_k(const std::byte* b, std::size_t i) { return with_minimum(b, i, nibble(b + 16, i, 32)); }
double q5_k(const std::byte* b, std::size_t i) {
  const unsigned fifth = at(b + 16, i % 32) >> i / 32 & 1;
  return with_minimum(b, i, nibble(b + 48, i, 32) | fifth << 4);
}
double q6_k(const std::byte* b, std::size_t i) {
  const unsigned upper = at(b + 128, i / 128 * 32 + i % 32) >> 2 * (i / 32 % 4) & 3;
  const unsigned code = nibble(b, i, 64) | upper << 4;
  return half(b + 208) * whole(at(b + 192, i / 16)) * (static_cast<double>(code) - 32);
}

unsigned two_bits(const std::byte* from, std::size_t i) {
  return at(from, i / 128 * 32 + i % 32) >> 2 * (i / 32 % 4) & 3;
}
double q2_k(const std::byte* b, std::size_t i) {
  const unsigned both = at(b, i / 16);
  return half(b + 80) * (both & 15) * two_bits(b + 16, i) - half(b + 82) * (both >> 4);
}
double q3_k(const std::byte* b, std::size_t i) {
  const std::size_t group = i / 16;
  const unsigned lower = at(b + 96, group % 8) >> 4 * (group / 8) & 15;
  const unsigned upper = at(b + 104, group % 4) >> 2 * (group / 4) & 3;
  const unsigned third = at(b, i % 32) >> i / 32 & 1;
  return half(b + 108) * (static_cast<double>(lower | upper << 4) - 32) *
         (static_cast<double>(two_bits(b + 32, i) | third << 2) - 4);
}

struct Reader {
  std::string_view format;
  double (*number)(const std::byte* block, std::size_t i);
};
constexpr std::array kReaders = {Reader{"q8_0", q8_0}, Reader{"q4_0", q4_0}, Reader{"q4_k", q4_k},
                                 Reader{"q5_k", q5_k}, Reader{"q6_k", q6_k}, Reader{"q2_k", q2_k},
                                 Reader{"q3_k", q3_k}};

}  // namespace

bool decode_blocks(const Format& format, const std::byte* payload, std::span<double> out) {
  const auto reader = std::find_if(kReaders.begin(), kReaders.end(),
                                   [&](const Reader& r) { return r.format == format.name; });
  if (reader == kReaders.end()) return false;
  const auto numbers = static_cast<std::size_t>(format.block_elements);
  const auto bytes = static_cast<std::size_t>(format.block_bytes);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = reader->number(payload + i / numbers * bytes, i % numbers);
  return true;
}

}  // namespace kvplan
