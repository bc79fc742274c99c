// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/best_of_run.h"

#include <algorithm>

namespace kvplan {
namespace {

constexpr int kTrials = 3;
constexpr Seconds kLong(0.05);  // says at the first try which is the fastest

}  // namespace

void BestOfRun::place() {
  if (!best_) choose();
  advance();
}

std::string BestOfRun::description() const {
  std::string text = CpuRun::description();
  if (best_ && variants_.size() > 1)
    text += ", " + best_->name + " (best of " + std::to_string(variants_.size()) + ")";
  return text;
}

Seconds BestOfRun::pass(const Variant& variant) {
  advance();
  return context_.team.run(variant.run);
}

void BestOfRun::drop(const std::function<bool(const Variant&)>& wrong) {
  best_ = nullptr;
  variants_.erase(std::remove_if(variants_.begin() + 1, variants_.end(), wrong), variants_.end());
}

void BestOfRun::choose() {
  const auto faster = [](const Variant& a, const Variant& b) { return a.fastest < b.fastest; };
  const auto fastest = [&] { return std::min_element(variants_.begin(), variants_.end(), faster); };
  for (int trial = 0; variants_.size() > 1 && trial < kTrials; ++trial) {
    for (Variant& variant : variants_) variant.fastest = std::min(variant.fastest, pass(variant));
    if (fastest()->fastest > kLong) break;
  }
  best_ = &*fastest();
}

}  // namespace kvplan
