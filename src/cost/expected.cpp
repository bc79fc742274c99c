// SPDX-License-Identifier: Apache-2.0
#include "cost/expected.h"

#include <algorithm>

namespace kvplan {
namespace {

std::string described(const Shape& shape) {
  struct Visitor {
    std::string operator()(const GemmShape& s) const { return "products with " + name(s.weights); }
    std::string operator()(const DecodeAttentionShape& s) const {
      return "decode attention over " + name(s.key);
    }
    std::string operator()(const PrefillAttentionShape& s) const {
      return "prefill attention over " + name(s.cache);
    }
    std::string operator()(const LatentDecodeShape& s) const {
      return "latent attention over " + name(s.latent_format);
    }
    std::string operator()(const MoeShape& s) const { return "experts in " + name(s.weights); }
    std::string operator()(const RecurrenceShape& s) const {
      return (s.tokens == 1 ? "steps of " : "prompts through ") + std::string(name_of(s.kind)) +
             " states";
    }
    std::string operator()(const SparseLatentShape& s) const {
      return std::string("sparse latent attention with ") + name(s.weights) + " weights over " +
             name(s.latent_format);
    }
    std::string operator()(const CollectiveShape& s) const {
      if (s.kind == CollectiveShape::all_to_all) return "tokens exchanged among GPUs";
      return s.kind == CollectiveShape::all_gather ? "rows sent to other GPUs" : "sums over GPUs";
    }

    static std::string name(const Format* format) { return std::string(format->name); }
  };
  return std::visit(Visitor{}, shape);
}

// Whose law times a recurrence that has none of its own.
std::string stand_in(const Shape& shape, const Profile& profile) {
  const auto* s = std::get_if<RecurrenceShape>(&shape);
  if (!s || profile.find(class_of(shape), name_of(s->kind))) return "";
  return "states of " + std::string(name_of(s->kind)) + " as " +
         std::string(name_of(Recurrent::gated_delta_net));
}

}  // namespace

Expected expected(const Launches& launches, const Profile& profile) {
  if (!launches.missing.empty())
    return {std::nullopt, "no law for " + std::string(launches.missing)};
  std::optional<Estimate> sum;
  std::string by_another;
  for (const KernelTime& kernel : kernel_times(launches, profile)) {
    const auto all = kernel.all();
    if (!all) return {std::nullopt, "no fit for " + described(kernel.shape)};
    if (by_another.empty()) by_another = stand_in(kernel.shape, profile);
    sum = sum ? *sum + *all : *all;
  }
  return {sum, sum ? "" : "nothing to run", by_another};
}

std::vector<KernelTime> kernel_times(const Launches& launches, const Profile& profile) {
  std::vector<KernelTime> kernels;
  kernels.reserve(launches.all.size());
  for (const Launch& launch : launches.all)
    kernels.push_back({launch.shape, launch.count, profile.time(launch.shape)});
  return kernels;
}

Estimate no_faster_than(Seconds ceiling, const Estimate& e) {
  return {std::max(e.value, ceiling), std::max(e.low, ceiling), std::max(e.high, ceiling),
          e.coverage};
}

}  // namespace kvplan
