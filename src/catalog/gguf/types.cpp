// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/types.h"

namespace kvplan {
namespace {

constexpr GgmlType kTypes[] = {
    {0, "fp32"},
    {1, "fp16"},
    {2, "q4_0"},
    {3, "q4_1"},
    {6, "q5_0"},
    {7, "q5_1"},
    {8, "q8_0"},
    {9, "q8_1"},
    {10, "q2_k"},
    {11, "q3_k"},
    {12, "q4_k"},
    {13, "q5_k"},
    {14, "q6_k"},
    {15, "q8_k"},
    {16, "iq2_xxs"},
    {17, "iq2_xs"},
    {18, "iq3_xxs"},
    {19, "iq1_s"},
    {20, "iq4_nl"},
    {21, "iq3_s"},
    {22, "iq2_s"},
    {23, "iq4_xs"},
    {24, "int8"},
    {25, "int16"},
    {26, "int32"},
    {27, "int64"},
    {28, "fp64"},
    {29, "iq1_m"},
    {30, "bf16"},
    // Rows of q4_0 and iq4_nl interleaved for one instruction set: the same bytes (2024 files).
    {31, "q4_0"},
    {32, "q4_0"},
    {33, "q4_0"},
    {34, "tq1_0"},
    {35, "tq2_0"},
    {36, "iq4_nl"},
    {37, "iq4_nl"},
    {38, "iq4_nl"},
    {39, "mxfp4"},
    {40, "nvfp4-unscaled"},
    {41, "q1_0"},
    {42, "q2_0"},
    {133, "q6_0"},  // ik_llama.cpp
};

}  // namespace

std::span<const GgmlType> ggml_types() { return kTypes; }

const Format* ggml_format(std::uint32_t id) {
  for (const GgmlType& type : kTypes)
    if (type.id == id) return find_format(type.format);
  return nullptr;
}

}  // namespace kvplan
