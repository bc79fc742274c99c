// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/schemes.h"

#include <optional>
#include <string>

namespace kvplan::safetensors {
namespace {

using Shape = std::vector<std::int64_t>;

struct Guess {
  Shape shape;
  std::string plain;  // format of the payload alone
  std::string whole;  // format that should account for the scales too
};

std::int64_t last(const StoredTensor& t) { return t.shape.empty() ? 1 : t.shape.back(); }
std::int64_t rows(const StoredTensor& t) { return t.shape.size() < 2 ? 1 : t.shape.end()[-2]; }
bool is(const StoredTensor& t, std::string_view dtype) { return t.dtype->name == dtype; }
bool is_word(const StoredTensor& t) { return t.dtype->bits == 32 && t.dtype->format == "int32"; }
bool is_byte(const StoredTensor& t) { return t.dtype->format == "int8" && !is(t, "BOOL"); }
bool is_float8(const StoredTensor& t) { return is(t, "F8_E4M3") || is(t, "F8_E5M2"); }

Shape with_last(const StoredTensor& t, std::int64_t columns) {
  Shape shape = t.shape;
  if (shape.empty()) shape.push_back(columns);
  shape.back() = columns;
  return shape;
}

// How many numbers `words` 32-bit words hold; nothing where they do not come out even.
std::optional<std::int64_t> unpacked(std::int64_t words, std::int64_t bits) {
  if (bits < 1 || bits > 32) return std::nullopt;
  const std::int64_t all = checked_mul(words, 32);
  return all % bits == 0 ? std::optional(all / bits) : std::nullopt;
}

std::string grouped(std::int64_t bits, std::int64_t inputs, std::int64_t groups, bool zeros) {
  const std::string name = "int" + std::to_string(bits);
  if (groups <= 1) return name + "-channel";
  return name + "-g" + std::to_string(ceil_div(inputs, groups)) + (zeros ? "-zp" : "");
}

// AWQ packs along the outputs, [in, out / n]; GPTQ along the inputs, [in / n, out]. Scales are
// [groups, out] in both.
std::optional<Guess> awq_or_gptq(const PackedMatrix& m, const PackHints& hints) {
  if (!is_word(*m.payload) || m.payload->shape.size() != 2 || !m.scale ||
      m.scale->shape.size() != 2)
    return std::nullopt;
  const std::int64_t first = m.payload->shape[0], second = m.payload->shape[1];
  const std::int64_t groups = m.scale->shape[0], outputs = m.scale->shape[1];
  if (outputs < 1 || groups < 1) return std::nullopt;
  std::int64_t bits = hints.bits.value_or(4), inputs = first;
  if (second == outputs) {
    if (m.zero && m.zero->shape.size() == 2) bits = checked_mul(m.zero->shape[1], 32) / outputs;
    const auto n = unpacked(first, bits);
    if (!n) return std::nullopt;
    inputs = *n;
  } else {
    bits = checked_mul(second, 32) / outputs;
  }
  return Guess{{outputs, inputs},
               "int" + std::to_string(bits),
               grouped(bits, inputs, groups, m.zero != nullptr)};
}

// Words along the inputs, [out, in / n], scales [out, groups].
std::optional<Guess> words(const PackedMatrix& m, const PackHints& hints) {
  if (!is_word(*m.payload) || !m.scale) return std::nullopt;
  // MLX stores scale and bias of each group at the scales' own width, and quantises tables too.
  const bool mlx = m.zero && m.zero->name.ends_with(".biases");
  const std::int64_t columns = last(*m.payload), groups = last(*m.scale);
  std::int64_t bits = hints.bits.value_or(4);
  if (mlx) {
    const std::int64_t inputs = checked_mul(groups, hints.group.value_or(64));
    if (inputs < 1) return std::nullopt;
    bits = checked_mul(columns, 32) / inputs;
  }
  const auto inputs = unpacked(columns, bits);
  if (!inputs || groups < 1) return std::nullopt;
  const std::string plain = "int" + std::to_string(bits);
  if (!mlx)
    return Guess{with_last(*m.payload, *inputs), plain, grouped(bits, *inputs, groups, m.zero)};
  return Guess{with_last(*m.payload, *inputs), plain,
               "mlx-" + std::to_string(bits) + "bit-g" + std::to_string(*inputs / groups)};
}

// Two 4-bit floats a byte: one scale byte for 16 of them (NVFP4) or for 32 (MXFP4).
std::optional<Guess> float4(const PackedMatrix& m) {
  const bool unpacked_already = is(*m.payload, "F4");
  if (!m.scale || m.scale->dtype->bits != 8 || (!is_byte(*m.payload) && !unpacked_already))
    return std::nullopt;
  if (m.payload->name.ends_with("_blocks")) {  // gpt-oss: [..., groups, 16]
    Shape shape = m.scale->shape;
    if (shape.empty() || last(*m.payload) != 16) return std::nullopt;
    shape.back() = checked_mul(shape.back(), 32);
    return Guess{shape, "fp4", "mxfp4"};
  }
  const std::int64_t inputs = checked_mul(last(*m.payload), unpacked_already ? 1 : 2);
  const std::int64_t groups = last(*m.scale);
  if (checked_mul(groups, 16) == inputs)
    return Guess{with_last(*m.payload, inputs), "fp4", m.global ? "nvfp4" : "nvfp4-unscaled"};
  if (checked_mul(groups, 32) == inputs)
    return Guess{with_last(*m.payload, inputs), "fp4", "mxfp4"};
  return std::nullopt;
}

// bitsandbytes: two numbers a byte in one long column, a scale for 64.
std::optional<Guess> flat_bytes(const PackedMatrix& m) {
  if (!is(*m.payload, "U8") || !m.scale || !m.scale->name.ends_with(".absmax")) return std::nullopt;
  return Guess{{1, checked_mul(m.payload->elements, 2)}, "int4", "nf4"};
}

// One number a byte: a scale per tensor, per output, per tile, or per 32 (MXFP8).
std::optional<Guess> eight_bits(const PackedMatrix& m) {
  if (!is_float8(*m.payload) && !is_byte(*m.payload)) return std::nullopt;
  const std::string plain(m.payload->dtype->format);
  if (!m.scale) return Guess{m.payload->shape, plain, plain};
  const std::string kind = is_float8(*m.payload) ? "fp8" : "int8";
  const std::int64_t outputs = rows(*m.payload), inputs = last(*m.payload);
  const std::int64_t copies =
      m.payload->elements / std::max<std::int64_t>(1, checked_mul(outputs, inputs));
  const std::int64_t scales = m.scale->elements / std::max<std::int64_t>(1, copies);
  const bool tiled = m.scale->shape.size() >= 2 && rows(*m.scale) == ceil_div(outputs, 128) &&
                     last(*m.scale) == ceil_div(inputs, 128);
  std::string whole = kind + "-block128";
  if (scales <= 1) whole = kind + "-tensor";
  if (scales == outputs && scales > 1 && !tiled) whole = kind + "-channel";
  if (checked_mul(scales, 32) == checked_mul(outputs, inputs)) whole = "mxfp8";
  return Guess{m.payload->shape, plain, whole};
}

std::optional<Guess> guess_of(const PackedMatrix& m, const PackHints& hints) {
  if (m.is_qweight) return awq_or_gptq(m, hints);
  if (auto guess = words(m, hints)) return guess;
  if (auto guess = flat_bytes(m)) return guess;
  if (auto guess = float4(m)) return guess;
  return eight_bits(m);
}

std::int64_t copies_of(const Shape& shape) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) n = checked_mul(n, shape[i]);
  return n;
}

// The bytes of all matrices of this shape.
Bytes bytes_of(const Format& f, const Shape& shape) {
  const std::int64_t outputs = shape.size() < 2 ? 1 : shape.end()[-2];
  const std::int64_t inputs = shape.empty() ? 1 : shape.back();
  return stored_bytes(f, outputs, inputs) * copies_of(shape);
}

}  // namespace

Scheme scheme_of(const PackedMatrix& m, const PackHints& hints) {
  const Scheme as_stored{m.payload->shape, find_format(m.payload->dtype->format), false};
  const auto guess = guess_of(m, hints);
  if (!guess) return as_stored;
  Bytes all = m.payload->bytes;
  for (const StoredTensor* part : {m.scale, m.global, m.zero})
    if (part) all += part->bytes;
  const Format* whole = find_format(guess->whole);
  if (whole && bytes_of(*whole, guess->shape) == all) return {guess->shape, whole, true};
  const Format* plain = find_format(guess->plain);
  if (plain && bytes_of(*plain, guess->shape) == m.payload->bytes)
    return {guess->shape, plain, false};
  return as_stored;
}

}  // namespace kvplan::safetensors
