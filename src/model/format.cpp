// SPDX-License-Identifier: Apache-2.0
#include "model/format.h"

#include <array>
#include <cctype>
#include <numeric>
#include <string>
#include <vector>

#include "nearest.h"

namespace kvplan {
namespace {

using enum Precision;
constexpr std::int32_t kAll = -1;  // a scale for the whole axis

// Numbers of `bits` bits, packed without gaps and without any scale.
constexpr Format plain(std::string_view name, std::int32_t bits, Precision unit) {
  const std::int32_t shared = std::gcd(bits, 8);
  return {name, 8 / shared, bits / shared, unit, static_cast<double>(bits)};
}

// Blocks that hold their own scales.
constexpr Format block(std::string_view name, std::int32_t elements, std::int32_t bytes,
                       Precision unit, double bits) {
  return {name, elements, bytes, unit, bits};
}

// As plain, with a separate scale per tile of rows x columns.
constexpr Format tiled(std::string_view name, std::int32_t bits, Precision unit, Scales scales) {
  Format f = plain(name, bits, unit);
  f.scales = scales;
  return f;
}

// As plain, with `bytes` of scale per head and token of a cache.
constexpr Format per_head(std::string_view name, std::int32_t bits, Precision unit,
                          std::int32_t bytes) {
  Format f = plain(name, bits, unit);
  f.head_bytes = bytes;
  return f;
}

constexpr Format with_global_scale(Format f) {
  f.tensor_bytes = 4;
  return f;
}

constexpr std::array kFormats = {
    plain("fp64", 64, fp64),
    plain("fp32", 32, fp32),
    plain("bf16", 16, bf16),
    plain("fp16", 16, fp16),
    plain("fp8", 8, fp8),
    plain("fp8-e5m2", 8, fp8),
    plain("int8", 8, int8),
    plain("fp6", 6, fp8),
    plain("fp4", 4, fp4),
    plain("int4", 4, int4),
    plain("int3", 3, int4),
    plain("int2", 2, int4),
    // Tables of indices that checkpoints bring along; no arithmetic is done in them.
    plain("int16", 16, fp32),
    plain("int32", 32, fp32),
    plain("int64", 64, fp64),

    // fp8 and int8 with separate fp32 scales: per 128 x 128 tile (DeepSeek-V3 report, section
    // 3.3.2), per output channel, per tensor (compressed-tensors and ModelOpt checkpoints).
    tiled("fp8-block128", 8, fp8, {128, 128, 4}),
    tiled("fp8-channel", 8, fp8, {1, kAll, 4}),
    tiled("fp8-tensor", 8, fp8, {kAll, kAll, 4}),
    tiled("int8-channel", 8, int8, {1, kAll, 4}),
    tiled("int8-tensor", 8, int8, {kAll, kAll, 4}),

    // Integer groups with a 16-bit scale; "-zp" adds a packed zero point as wide as a weight (AWQ,
    // GPTQ).
    tiled("int8-g128", 8, int8, {1, 128, 2}),
    tiled("int8-g128-zp", 8, int8, {1, 128, 2, 8}),
    tiled("int4-g128", 4, int4, {1, 128, 2}),
    tiled("int4-g64", 4, int4, {1, 64, 2}),
    tiled("int4-g32", 4, int4, {1, 32, 2}),
    tiled("int4-channel", 4, int4, {1, kAll, 2}),
    tiled("int4-g128-zp", 4, int4, {1, 128, 2, 4}),
    tiled("int4-g64-zp", 4, int4, {1, 64, 2, 4}),
    tiled("int4-g32-zp", 4, int4, {1, 32, 2, 4}),
    tiled("int3-g128-zp", 3, int4, {1, 128, 2, 3}),
    tiled("int2-g128-zp", 2, int4, {1, 128, 2, 2}),
    tiled("int2-g64-zp", 2, int4, {1, 64, 2, 2}),
    tiled("int2-g32-zp", 2, int4, {1, 32, 2, 2}),
    // QLoRA (Dettmers et al. 2023): an fp32 scale per 64; with double quantisation one byte, and
    // an fp32 scale per 256 of those, 4 bytes in 8,452, that is left out.
    tiled("nf4", 4, int4, {1, 64, 4}),
    tiled("nf4-double", 4, int4, {1, 64, 1}),

    // MLX: a 16-bit scale and a 16-bit bias per group.
    tiled("mlx-8bit-g64", 8, int8, {1, 64, 4}),
    tiled("mlx-6bit-g64", 6, int8, {1, 64, 4}),
    tiled("mlx-5bit-g64", 5, int8, {1, 64, 4}),
    tiled("mlx-4bit-g64", 4, int4, {1, 64, 4}),
    tiled("mlx-4bit-g32", 4, int4, {1, 32, 4}),
    tiled("mlx-3bit-g64", 3, int4, {1, 64, 4}),
    tiled("mlx-2bit-g64", 2, int4, {1, 64, 4}),

    // One scale byte per 32 (OCP Microscaling 1.0); one fp8 scale per 16 and one fp32 per tensor
    // (NVFP4).
    block("mxfp8", 32, 33, fp8, 8),
    block("mxfp6", 32, 25, fp8, 6),
    block("mxfp4", 32, 17, fp4, 4),
    with_global_scale(block("nvfp4", 16, 9, fp4, 4)),
    block("nvfp4-unscaled", 16, 9, fp4, 4),  // GGUF keeps the fp32 one as a tensor, or has none

    // GGUF types; bytes are the sums of the fields of ggml's block structs (ggml-common.h). q6_0 is
    // ik_llama.cpp's.
    block("q8_0", 32, 34, int8, 8),
    block("q8_1", 32, 36, int8, 8),
    block("q8_k", 256, 292, int8, 8),
    block("q6_k", 256, 210, int8, 6),
    block("q6_0", 32, 26, int8, 6),
    block("q5_k", 256, 176, int8, 5),
    block("q5_1", 32, 24, int8, 5),
    block("q5_0", 32, 22, int8, 5),
    block("q4_k", 256, 144, int4, 4),
    block("q4_1", 32, 20, int4, 4),
    block("q4_0", 32, 18, int4, 4),
    block("iq4_nl", 32, 18, int4, 4),
    block("iq4_xs", 256, 136, int4, 4),
    block("q3_k", 256, 110, int4, 3),
    block("iq3_s", 256, 110, int4, 3),
    block("iq3_xxs", 256, 98, int4, 3),
    block("q2_k", 256, 84, int4, 2),
    block("q2_0", 64, 18, int4, 2),
    block("iq2_s", 256, 82, int4, 2),
    block("iq2_xs", 256, 74, int4, 2),
    block("iq2_xxs", 256, 66, int4, 2),
    block("tq2_0", 256, 66, int4, 2),
    block("tq1_0", 256, 54, int4, 1.6),
    block("iq1_m", 256, 56, int4, 1.5),
    block("iq1_s", 256, 50, int4, 1.5),
    block("q1_0", 128, 18, int4, 1),

    // Caches: an fp32 scale per token and head (vLLM); an fp32 scale per 128 numbers (latents and
    // index keys of DeepSeek-V3.2); 7 one-byte scales padded to 8 per row of 448 (DeepSeek-V4).
    per_head("int8-head", 8, int8, 4),
    per_head("fp8-head", 8, fp8, 4),
    per_head("int4-head", 4, int4, 4),
    block("fp8-g128", 128, 132, fp8, 8),
    per_head("fp8-row8", 8, fp8, 8),
};

struct Alias {
  std::string_view alias, name;
};
constexpr std::array kAliases = {
    Alias{"double", "fp64"},
    Alias{"float64", "fp64"},
    Alias{"f64", "fp64"},
    Alias{"float", "fp32"},
    Alias{"float32", "fp32"},
    Alias{"f32", "fp32"},
    Alias{"bfloat16", "bf16"},
    Alias{"half", "fp16"},
    Alias{"float16", "fp16"},
    Alias{"f16", "fp16"},
    Alias{"float8", "fp8"},
    Alias{"f8", "fp8"},
    Alias{"e4m3", "fp8"},
    Alias{"fp8_e4m3", "fp8"},
    Alias{"fp8_inc", "fp8"},
    Alias{"float8_e4m3fn", "fp8"},
    Alias{"e5m2", "fp8-e5m2"},
    Alias{"float8_e5m2", "fp8-e5m2"},
    Alias{"i8", "int8"},
    Alias{"i4", "int4"},
    Alias{"e2m1", "fp4"},
    Alias{"fp4_e2m1", "nvfp4"},  // SGLang's cache: one scale byte per 16
    Alias{"mlx-8bit", "mlx-8bit-g64"},
    Alias{"mlx-6bit", "mlx-6bit-g64"},
    Alias{"mlx-5bit", "mlx-5bit-g64"},
    Alias{"mlx-4bit", "mlx-4bit-g64"},
    Alias{"mlx-3bit", "mlx-3bit-g64"},
    Alias{"bnb-4bit", "nf4"},
    Alias{"bnb-nf4", "nf4"},
    Alias{"bnb-8bit", "int8-channel"},
    Alias{"awq", "int4-g128-zp"},
    Alias{"gptq", "int4-g128-zp"},
    Alias{"w4a16", "int4-g128"},
    Alias{"w8a8", "int8-channel"},
    Alias{"int8_per_token_head", "int8-head"},
    Alias{"fp8_per_token_head", "fp8-head"},
    Alias{"int4_per_token_head", "int4-head"},
};

// Names are the same whatever their case, dashes and underscores. Compared letter by letter: most
// differ in the first one, and a reader looks a name up for every tensor.
bool same_name(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& name) {
    while (name.starts_with('-') || name.starts_with('_')) name.remove_prefix(1);
    if (name.empty()) return 0;
    const int letter = std::tolower(static_cast<unsigned char>(name.front()));
    name.remove_prefix(1);
    return letter;
  };
  for (;;) {
    const int x = next(a), y = next(b);
    if (x != y) return false;
    if (x == 0) return true;
  }
}

const Format* canonical(std::string_view name) {
  for (const Format& f : kFormats)
    if (same_name(f.name, name)) return &f;
  return nullptr;
}

std::int64_t tiles(std::int64_t size, std::int32_t tile) {
  return tile < 0 ? 1 : ceil_div(size, tile);
}

}  // namespace

Bytes payload_bytes(const Format& f, std::int64_t rows, std::int64_t columns) {
  if (f.mean_millibits > 0)
    return Bytes(ceil_div(checked_mul(checked_mul(rows, columns), f.mean_millibits), 8000));
  return Bytes(checked_mul(rows, checked_mul(ceil_div(columns, f.block_elements), f.block_bytes)));
}

std::int64_t scale_count(const Format& f, std::int64_t rows, std::int64_t columns) {
  if (f.scales.rows == 0) return 0;
  return checked_mul(tiles(rows, f.scales.rows), tiles(columns, f.scales.columns));
}

Bytes scale_bytes(const Format& f, std::int64_t rows, std::int64_t columns) {
  const std::int64_t count = scale_count(f, rows, columns);
  const std::int64_t zeros = ceil_div(checked_mul(count, f.scales.zero_bits), 8);
  return Bytes(checked_add(checked_add(checked_mul(count, f.scales.bytes), zeros), f.tensor_bytes));
}

Bytes stored_bytes(const Format& f, std::int64_t rows, std::int64_t columns) {
  return payload_bytes(f, rows, columns) + scale_bytes(f, rows, columns);
}

Bytes cache_row_bytes(const Format& f, std::int64_t heads, std::int64_t width) {
  return payload_bytes(f, heads, width) + Bytes(checked_mul(heads, f.head_bytes));
}

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  if (const Format* f = canonical(name)) return f;
  for (const Alias& alias : kAliases)
    if (same_name(alias.alias, name)) return canonical(alias.name);
  return nullptr;
}

const Format& format_named(std::string_view name) {
  if (const Format* f = find_format(name)) return *f;
  std::vector<std::string> names;
  names.reserve(std::size(kFormats) + std::size(kAliases));
  for (const Format& f : kFormats) names.emplace_back(f.name);
  for (const Alias& alias : kAliases) names.emplace_back(alias.alias);
  Error error("unknown number format '" + std::string(name) + "'");
  const std::string advice = did_you_mean(name, names);
  throw error.advise(advice.empty() ? "Known are bf16, fp8, int8, int4-g128, mxfp4, q4_k and more."
                                    : advice);
}

}  // namespace kvplan
