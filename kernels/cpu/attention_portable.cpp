// SPDX-License-Identifier: Apache-2.0
// Plain loops in fixed blocks that compilers vectorise; the order of summation is the same
// everywhere.
#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/attention.h"
#include "kernels/numbers.h"

namespace kvplan {
namespace {

constexpr std::int64_t kSums = 16;

// 2^x for x <= 0: the integer part goes into the exponent, a polynomial (minimax, degree 5,
// relative error 2e-7) gives the rest. Below 2^-126 it is 0.
[[gnu::always_inline]] inline float power_of_two(float x) {
  const float clamped = std::max(x, -126.0f);
  const float whole = static_cast<float>(static_cast<std::int32_t>(clamped - 0.5f));
  const float f = clamped - whole;
  float p = 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  const auto exponent = static_cast<std::uint32_t>(static_cast<std::int32_t>(whole) + 127) << 23;
  return x < -126.0f ? 0.0f : p * std::bit_cast<float>(exponent);
}

template <class T, float (*convert)(T)>
[[gnu::always_inline]] inline void decode(const std::byte* from, std::int64_t width, float* to) {
  for (std::int64_t i = 0; i < width; i += kSums) {
    std::array<T, kSums> raw;
    std::memcpy(raw.data(), from + i * static_cast<std::int64_t>(sizeof(T)), sizeof raw);
    for (std::int64_t j = 0; j < kSums; ++j) to[i + j] = convert(raw[j]);
  }
}

[[gnu::always_inline]] inline float same(float value) { return value; }
[[gnu::always_inline]] inline float from_byte(std::int8_t value) { return value; }

[[gnu::always_inline]] inline float product(const float* a, const float* b, std::int64_t width) {
  std::array<float, kSums> sums{};
  for (std::int64_t i = 0; i < width; i += kSums)
    for (std::int64_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  float all = 0;
  for (const float sum : sums) all += sum;
  return all;
}

// One token: its score moves the highest, then its value is added.
template <class T, float (*convert)(T)>
[[gnu::always_inline]] inline void add_tokens(const QueryBlock& q, const KvRows& kv,
                                              AttentionState& state) {
  float key[kMaxKeyWidth], value[kMaxValueWidth];
  for (std::int64_t t = 0; t < kv.tokens; ++t) {
    decode<T, convert>(kv.keys + t * kv.key_stride, q.width, key);
    decode<T, convert>(kv.values + t * kv.value_stride, kv.value_width, value);
    const float key_scale = kv.key_scales ? kv.key_scales[t] : 1.0f;
    const float value_scale = kv.value_scales ? kv.value_scales[t] : 1.0f;
    for (std::int64_t r = 0; r < q.rows; ++r) {
      if (kv.visible && t >= kv.visible[r]) continue;
      const float score = product(q.plain.data() + r * q.width, key, q.width) * q.score_scale;
      float* out = state.out.data() + r * kv.value_width;
      if (score * key_scale > state.highest[r]) {
        const float shrink = power_of_two(state.highest[r] - score * key_scale);
        state.highest[r] = score * key_scale;
        state.sum[r] *= shrink;
        for (std::int64_t i = 0; i < kv.value_width; ++i) out[i] *= shrink;
      }
      const float weight = power_of_two(score * key_scale - state.highest[r]);
      state.sum[r] += weight;
      for (std::int64_t i = 0; i < kv.value_width; ++i) out[i] += weight * value_scale * value[i];
    }
  }
}

template <class T, float (*convert)(T)>
void portable(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  add_tokens<T, convert>(q, kv, state);
}
template <class T, float (*convert)(T)>
KVPLAN_AVX2 void avx2(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  add_tokens<T, convert>(q, kv, state);
}

struct Row {
  std::string_view format;
  AttentionKernel portable, avx2;
};
constexpr std::array kKernels = {
    Row{"fp32", portable<float, same>, avx2<float, same>},
    Row{"bf16", portable<std::uint16_t, from_bf16>, avx2<std::uint16_t, from_bf16>},
    Row{"fp16", portable<std::uint16_t, from_fp16>, avx2<std::uint16_t, from_fp16>},
    Row{"fp8", portable<std::uint8_t, from_fp8>, avx2<std::uint8_t, from_fp8>},
    Row{"int8-head", portable<std::int8_t, from_byte>, avx2<std::int8_t, from_byte>},
};

const Row* row_for(const Format& format) {
  const auto found = std::find_if(kKernels.begin(), kKernels.end(),
                                  [&](const Row& row) { return row.format == format.name; });
  return found == kKernels.end() ? nullptr : &*found;
}

}  // namespace

AttentionKernel attention_portable(const Format& format) {
  const Row* row = row_for(format);
  return row ? row->portable : nullptr;
}

AttentionKernel attention_avx2(const Format& format) {
  const Row* row = row_for(format);
  return row ? row->avx2 : nullptr;
}

}  // namespace kvplan
