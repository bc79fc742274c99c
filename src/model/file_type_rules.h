// SPDX-License-Identifier: Apache-2.0
// The rules of llama.cpp's quantiser as data.
#pragma once
#include <span>
#include <string_view>

namespace kvplan {

enum class Tensor { head, table, value, key, query, fused, output, down, inner, expert, other };

// A condition on the model, or on the layer i of n.
enum class When {
  always,
  grouped,             // 4 or more query heads share a KV head
  grouped_or_experts,  // so, or 4 or more experts
  eight_experts,
  falcon,
  first_two,
  first_four,
  first_eighth,
  first_sixteenth,
  more_bits,       // the first and the last eighth, and every third between
  falcon_more,     // Falcon, and more_bits
  falcon_first,    // Falcon, and the first sixteenth
  eight_and_more,  // eight experts, and more_bits
  between_eighths
};

struct Rule {
  std::string_view types;  // file types, separated by blanks
  Tensor tensor;
  When when;
  std::string_view format;
};
std::span<const Rule> file_type_rules();

// What is stored where rows do not fill the blocks of a format.
struct Fallback {
  std::string_view from, to;
};
std::span<const Fallback> file_type_fallbacks();

// Types of 2.7 bits and less, which have rules of their own.
constexpr std::string_view kTiny = "iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq2_m";

}  // namespace kvplan
