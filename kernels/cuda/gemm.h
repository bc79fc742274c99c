// SPDX-License-Identifier: Apache-2.0
// Large products, by the library that the machine has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace kvplan {

// y[m, n] = x[m, k] · W[n, k]ᵀ, W and x of one type, y of 16 bits (bf16 for fp8).
struct GemmSpec {
  enum Type { fp16, bf16, fp8 } type = bf16;
  std::int64_t m = 1, n = 1, k = 1;
};

struct GemmPlan {
  virtual ~GemmPlan() = default;
  // Queues the product.
  virtual void enqueue(const std::byte* w, const std::byte* x, std::byte* y) = 0;
  virtual std::string description() const = 0;
};

}  // namespace kvplan
