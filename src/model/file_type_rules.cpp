// SPDX-License-Identifier: Apache-2.0
#include "model/file_type_rules.h"

#include "model/file_type.h"

namespace kvplan {
namespace {

constexpr FileType kFileTypes[] = {
    {"iq1_s", "iq1_s"},
    {"iq1_m", "iq1_m"},
    {"iq2_xxs", "iq2_xxs"},
    {"iq2_xs", "iq2_xs"},
    {"iq2_s", "iq2_xs"},
    {"iq2_m", "iq2_s"},
    {"q2_k_s", "q2_k"},
    {"q2_k", "q2_k"},
    {"iq3_xxs", "iq3_xxs"},
    {"iq3_xs", "iq3_s"},
    {"iq3_s", "iq3_s"},
    {"iq3_m", "iq3_s"},
    {"q3_k_s", "q3_k"},
    {"q3_k_m", "q3_k"},
    {"q3_k_l", "q3_k"},
    {"iq4_xs", "iq4_xs"},
    {"iq4_nl", "iq4_nl"},
    {"q4_0", "q4_0"},
    {"q4_1", "q4_1"},
    {"q4_k_s", "q4_k"},
    {"q4_k_m", "q4_k"},
    {"q5_0", "q5_0"},
    {"q5_1", "q5_1"},
    {"q5_k_s", "q5_k"},
    {"q5_k_m", "q5_k"},
    {"q6_k", "q6_k"},
    {"q8_0", "q8_0"},
    {"tq1_0", "tq1_0"},
    {"tq2_0", "tq2_0"},
    {"mxfp4_moe", "q8_0"},
    // Larger ones as widely published: --token-embedding-type q8_0 --output-tensor-type q8_0.
    {"q2_k_l", "q2_k", "q2_k", "q8_0"},
    {"q3_k_xl", "q3_k", "q3_k_l", "q8_0"},
    {"q4_k_l", "q4_k", "q4_k_m", "q8_0"},
    {"q5_k_l", "q5_k", "q5_k_m", "q8_0"},
    {"q6_k_l", "q6_k", "q6_k", "q8_0"}};

constexpr std::string_view kSmall2 = "iq2_s iq2_m";
constexpr std::string_view kEight =
    "q2_k iq3_xs iq3_xxs q3_k_s q3_k_m iq4_nl q4_k_s q4_k_m iq3_s iq3_m iq4_xs";

// The first that applies counts; without one, the base. An empty format is the base, too.
constexpr Rule kRules[] = {
    {"mxfp4_moe q8_0", Tensor::head, When::always, "q8_0"},
    {"mxfp4_moe", Tensor::expert, When::always, "mxfp4"},
    {"*", Tensor::head, When::falcon, "q8_0"},
    {"iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq2_m iq3_xxs", Tensor::head, When::always, "q5_k"},
    {"*", Tensor::head, When::always, "q6_k"},

    {"iq2_xxs iq2_xs iq1_s iq1_m", Tensor::table, When::always, "q2_k"},
    {"iq2_s iq2_m iq3_xxs", Tensor::table, When::always, "iq3_s"},
    {"tq1_0 tq2_0", Tensor::table, When::always, "q4_k"},

    {kTiny, Tensor::value, When::grouped_or_experts, "q4_k"},
    {kSmall2, Tensor::value, When::always, "iq3_s"},
    {kTiny, Tensor::value, When::always, "q2_k"},
    {kTiny, Tensor::key, When::eight_experts, "q4_k"},
    {kSmall2, Tensor::down, When::first_eighth, "iq3_s"},
    {kTiny, Tensor::down, When::first_eighth, "q2_k"},
    {kTiny, Tensor::output, When::eight_experts, "q5_k"},
    {"iq1_s iq1_m", Tensor::output, When::always, "iq2_xxs"},
    {kSmall2, Tensor::output, When::always, "iq3_s"},

    {"*", Tensor::value, When::eight_experts, "q8_0"},
    {"q2_k q2_k_s iq3_xxs iq3_xs iq3_s", Tensor::value, When::grouped, "q4_k"},
    {"q2_k", Tensor::value, When::always, "q3_k"},
    {"iq3_m", Tensor::value, When::always, "q4_k"},
    {"q3_k_m", Tensor::value, When::first_two, "q5_k"},
    {"q3_k_m", Tensor::value, When::always, "q4_k"},
    {"q3_k_l", Tensor::value, When::always, "q5_k"},
    {"iq4_nl iq4_xs", Tensor::value, When::grouped, "q5_k"},
    {"q4_k_m q5_k_m", Tensor::value, When::more_bits, "q6_k"},
    {"q4_k_s", Tensor::value, When::first_four, "q5_k"},

    {"*", Tensor::key, When::eight_experts, "q8_0"},
    {"iq3_xs", Tensor::key, When::always, "iq3_xxs"},
    {"iq3_xxs", Tensor::key, When::always, "iq2_s"},
    {"iq3_xs", Tensor::query, When::always, "iq3_xxs"},
    {"iq3_xxs", Tensor::query, When::always, "iq2_s"},

    {"q2_k", Tensor::down, When::always, "q3_k"},
    {"q2_k_s", Tensor::down, When::first_eighth, "q4_k"},
    {"q3_k_m", Tensor::down, When::first_sixteenth, "q5_k"},
    {"q3_k_m", Tensor::down, When::falcon_more, "q4_k"},
    {"q3_k_m", Tensor::down, When::falcon, "q3_k"},
    {"q3_k_m", Tensor::down, When::always, "q4_k"},
    {"iq3_m", Tensor::down, When::first_eighth, "q4_k"},
    {"iq3_m", Tensor::down, When::eight_and_more, "q4_k"},
    {"q3_k_l", Tensor::down, When::falcon, "q4_k"},
    {"q3_k_l", Tensor::down, When::always, "q5_k"},
    {"q4_k_m", Tensor::down, When::falcon_first, "q6_k"},
    {"q4_k_m", Tensor::down, When::falcon_more, "q5_k"},
    {"q4_k_m", Tensor::down, When::falcon, "q4_k"},
    {"q4_k_m q5_k_m", Tensor::down, When::more_bits, "q6_k"},
    {"q4_k_s", Tensor::down, When::falcon, "q4_k"},
    {"q4_k_s", Tensor::down, When::first_eighth, "q5_k"},

    {"q3_k_l", Tensor::output, When::falcon, "q4_k"},
    {"*", Tensor::output, When::falcon, ""},
    {kEight, Tensor::output, When::eight_experts, "q5_k"},
    {"*", Tensor::output, When::eight_experts, ""},
    {"q2_k", Tensor::output, When::always, "q3_k"},
    {"iq3_xxs", Tensor::output, When::always, "iq3_s"},
    {"q3_k_m iq3_m", Tensor::output, When::always, "q4_k"},
    {"q3_k_l", Tensor::output, When::always, "q5_k"},

    {"q3_k_m q3_k_l iq3_m", Tensor::fused, When::always, "q4_k"},
    {"q4_k_m", Tensor::fused, When::always, "q5_k"},
    {"q5_k_m", Tensor::fused, When::always, "q6_k"},

    {"iq3_xs", Tensor::inner, When::between_eighths, "iq3_xxs"},
};

constexpr Fallback kFallbacks[] = {{"tq1_0", "q4_0"},    {"tq2_0", "q4_0"},   {"iq2_xxs", "iq4_nl"},
                                   {"iq2_xs", "iq4_nl"}, {"iq2_s", "iq4_nl"}, {"iq3_xxs", "iq4_nl"},
                                   {"iq3_s", "iq4_nl"},  {"iq1_s", "iq4_nl"}, {"iq1_m", "iq4_nl"},
                                   {"q2_k", "iq4_nl"},   {"q3_k", "iq4_nl"},  {"iq4_xs", "iq4_nl"},
                                   {"q4_k", "q5_0"},     {"q5_k", "q5_1"},    {"q6_k", "q8_0"}};

}  // namespace

std::span<const FileType> file_types() { return kFileTypes; }
std::span<const Rule> file_type_rules() { return kRules; }
std::span<const Fallback> file_type_fallbacks() { return kFallbacks; }

}  // namespace kvplan
